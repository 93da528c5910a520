"""Parts any text into what is stated and what is asked, and tells whether it is to the point."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from drl.domains.candor.synthetic.grammar import named
from drl.domains.candor.synthetic.lexicon import (
    cue,
    stem,
    strange_to,
    tells_nothing,
    words,
    words_of,
)

_SENTENCE: Final = re.compile(r"[^.!?;:\n]+[.!?;:\n]*")
_ASKS: Final = re.compile(
    r"(?:(?:so|and|but|well|oh|wow|hey|okay|please|then|now|also|anyway|anyhow),? )*"
    r"(?:who|whom|whose|which|what(?:'s|'re)?|when|where|why|how(?:'s|'re)?|"
    r"(?:do|does|did|are|is|was|were|have|has|had|can|could|will|would|should|may|isn't|aren't|"
    r"don't|didn't|won't|wouldn't|can't|couldn't) (?:you|your|he|she|it|they|there|that|this|the|"
    r"i|we|him|her|his|their|someone|anyone|anybody|everybody)|any)\b"
)
_EXCLAIMS: Final = re.compile(
    r"(?:\w+,? )*(?:what an? |how (?!did|do|does|are|is|was|were|have|has|had|can|could|will|would|"
    r"long|many|much|often|old|about|come|else)\w+)"
)
_BOUND: Final = re.compile(r", |,$| but | and (?=how |what |when |who |where |why |do |did |are )")

ON_POINT: Final = 0.9
"""How sure it is that words like `it` mean the matter at hand."""

OFF_POINT: Final = 0.2
"""How likely words of nothing known belong to the matter all the same."""


class Clause(NamedTuple):
    """A part of a text in plain words, and whether it asks."""

    text: str
    asks: bool

    @property
    def words(self) -> Sequence[str]:
        """Its words."""
        return words_of(self.text)

    def __str__(self) -> str:
        """The clause with its mark."""
        return self.text + ("?" if self.asks else ".")


def clauses(text: str) -> list[Clause]:
    """The parts of a plain text in order; a question is parted from what leads up to it."""
    found: list[Clause] = []
    for match in _SENTENCE.finditer(text):
        sentence = match[0].strip()
        body = sentence.rstrip(".!?;: ").strip(" ,-\"'")
        if body:
            found += _parted(body, is_question="?" in sentence[-4:])
    return found


def _parted(body: str, *, is_question: bool) -> list[Clause]:
    starts = [0, *(match.end() for match in _BOUND.finditer(body))]
    for start in starts:
        rest = body[start:]
        if _ASKS.match(rest) and (is_question or not _EXCLAIMS.match(rest)):
            before = body[:start].rstrip(", ")
            return [Clause(before, False), Clause(rest, True)] if before else [Clause(rest, True)]
    return [Clause(body, is_question)]


def to_the_point(clause: Clause, own: frozenset[str], matter: str) -> float:
    """How likely a clause is about a matter: 0 to 1.

    Args:
        clause: of a reply.
        own: stems of words that belong to the matter or stood in the turn that brought it up.
        matter: by its name.
    """
    stems = {stem(word) for word in clause.words}
    if stems & own:
        return 1.0
    if (named(clause.text) or matter) != matter:
        return 0.0
    known = tells_nothing()
    if not clause.asks:
        known = known | {stem(word) for word in words("kin")}
    foreign = stems - known
    refers = cue("refers").strong.search(clause.text) is not None
    if foreign & strange_to(matter):
        return OFF_POINT if refers else 0.0
    return ON_POINT if refers or not foreign else OFF_POINT
