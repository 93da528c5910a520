"""What a judgment comes to, read from its text as FastChat 0.2.36 reads it."""

from __future__ import annotations

import re
from typing import Literal

Winner = Literal["A", "B", "tie"]

TIE_DELTA = 0.1
"""Two ratings that differ by no more are a tie."""

_RATING = re.compile(r"\[\[(\d+\.?\d*)\]\]")
_LOOSE_RATING = re.compile(r"\[(\d+\.?\d*)\]")
_RATINGS = re.compile(r"\[\[(\d+\.?\d*),\s?(\d+\.?\d*)\]\]")
_LOOSE_RATINGS = re.compile(r"\[(\d+\.?\d*),\s?(\d+\.?\d*)\]")
_WINNERS: tuple[tuple[str, Winner], ...] = (("[[A]]", "A"), ("[[B]]", "B"), ("[[C]]", "tie"))


def rating(judgment: str) -> float | None:
    """The first number in double square brackets, else in single ones; None if there is none.

    A number outside of the scale is given as it stands, and so is one that the judgment only
    quotes before its own.
    """
    found = _RATING.search(judgment) or _LOOSE_RATING.search(judgment)
    return None if found is None else float(found[1])


def winner(judgment: str) -> Winner | None:
    """Who won: A if [[A]] stands anywhere, else B by [[B]], else a tie by [[C]], else None."""
    return next((who for sign, who in _WINNERS if sign in judgment), None)


def winner_by_ratings(judgment: str) -> Winner | None:
    """Who got the higher of two ratings in one pair of brackets; None if there are none."""
    found = _RATINGS.search(judgment) or _LOOSE_RATINGS.search(judgment)
    if found is None:
        return None
    gap = float(found[1]) - float(found[2])
    if abs(gap) <= TIE_DELTA:
        return "tie"
    return "A" if gap > 0 else "B"
