"""Tells texts that are no conversation: empty, stuck, a heap of words, or said before."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from drl.domains.candor.synthetic.lexicon import words, words_of

_FEW_WORDS: Final = 6
"""Of fewer, any share says little."""

_HEAP: Final = (0.15, 0.9)
"""Shares of function words in sentences."""

_LONG_RUN: Final = 7
"""Words in a row without a function word; of 3,800 generated turns four have so many."""

_PAUSE: Final = re.compile(r"[^a-zà-ÿ' \-]+")

_STUCK_TRIPLES: Final = 0.7
"""Share of different ones among all triples of words; whole sentences said twice have half."""

_STUCK_WORD: Final = 0.25
"""Share of one word that is no function word, said `_OFTEN` or more."""

_OFTEN: Final = 3

_SAID_BEFORE: Final = 0.7
"""Share of the pairs of words that stood in one earlier turn."""

_VERBATIM_WORDS: Final = 8
"""So many words are not said twice by chance."""


def is_empty(text: str) -> bool:
    """Whether a plain text has no words."""
    return not words_of(text)


def is_stuck(text: str) -> bool:
    """Whether a plain text goes round in circles."""
    said = words_of(text)
    telling = Counter(word for word in said if word not in words("function"))
    most = max(telling.values(), default=0)
    if most >= _OFTEN and most > _STUCK_WORD * len(said):
        return True
    if len(said) < _FEW_WORDS:
        return False
    triples = list(zip(said, said[1:], said[2:], strict=False))
    most = max(Counter(said).values())
    return len(set(triples)) < _STUCK_TRIPLES * len(triples) or most > len(said) / 2


def is_heap(text: str) -> bool:
    """Whether a plain text has words and not the form of sentences."""
    parts = [words_of(part) for part in _PAUSE.split(text)]
    if any(_is_broken(part) for part in parts):
        return True
    said = words_of(text)
    if len(said) < _FEW_WORDS:
        return False
    share = sum(word in words("function") for word in said) / len(said)
    low, high = _HEAP
    return share < low or (share > high and len(said) >= 2 * _FEW_WORDS)


def _is_broken(part: Sequence[str]) -> bool:
    """Whether words between two pauses cannot stand together."""
    run = 0
    for word in part:
        run = 0 if word in words("function") else run + 1
        if run >= _LONG_RUN:
            return True
    follows_determiner = words("function") - words("may follow determiners")
    return any(
        (word in words("determiners") and after in follows_determiner)
        or (word in words("pronouns") and after in words("not after pronouns"))
        or (word in words("prepositions") and after in words("not after prepositions"))
        for word, after in pairwise(part)
    )


def is_verbatim(text: str, earlier: Iterable[str]) -> bool:
    """Whether a plain text of some length stood in earlier turns word by word."""
    said = words_of(text)
    return len(said) >= _VERBATIM_WORDS and any(said == words_of(each) for each in earlier)


def is_said_before(text: str, earlier: Iterable[str]) -> bool:
    """Whether most of a plain text stood in one of the earlier turns."""
    said = words_of(text)
    if len(said) < _VERBATIM_WORDS:
        return False
    pairs = _pairs(said)
    return any(len(pairs & _pairs(words_of(each))) >= _SAID_BEFORE * len(pairs) for each in earlier)


def _pairs(said: Sequence[str]) -> frozenset[tuple[str, str]]:
    return frozenset(pairwise(said))
