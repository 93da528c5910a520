"""Tells what any text brings up."""

from __future__ import annotations

import re
from typing import Final

from drl.domains.candor.synthetic.acts import Opening
from drl.domains.candor.synthetic.clauses import clauses
from drl.domains.candor.synthetic.lexicon import cue, stem, tells_nothing, words_of

_OF_OWN: Final = re.compile(r"(?<![\w'])(?:i|i'm|i've|i'd|my|we|we've|we're|our)\b")
_FEW_WORDS: Final = 4
"""A question or an account has at least so many words."""

_OWN: Final = (
    (Opening.WANTS_ADVICE, "advice_wanted"),
    (Opening.BAD_NEWS, "bad_of_own"),
    (Opening.GOOD_NEWS, "good_of_own"),
    (Opening.OPINION, "opinion_of_own"),
)


def brought_by(text: str) -> Opening | None:
    """What a plain text leaves open that stands for itself; None where it brings up nothing."""
    said = words_of(text)
    if len(said) < _FEW_WORDS:
        return None
    for kind, section in _OWN:
        if cue(section).strong.search(text):
            return kind
    if any(clause.asks for clause in clauses(text)):
        return Opening.QUESTION
    tells = [word for word in said if stem(word) not in tells_nothing()]
    return Opening.STORY if tells and _OF_OWN.search(text) else None
