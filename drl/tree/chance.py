"""A branch's chance of success, as far as a few tries tell it."""

from __future__ import annotations

from dataclasses import dataclass

_PRIOR = 0.5
"""Both parameters of the Beta prior: that of Jeffreys (1946), which favours no scale of chances."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chance:
    """A distribution over chances in [0, 1]: Beta(`a`, `b`)."""

    a: float
    b: float

    @classmethod
    def after(cls, successes: int, tries: int) -> Chance:
        """The posterior after so many independent tries."""
        return cls(a=successes + _PRIOR, b=tries - successes + _PRIOR)
