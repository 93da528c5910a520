"""A question of MT-Bench: two turns, and what its category decides (Zheng et al. 2023,
arXiv:2306.05685; the numbers are those of FastChat 0.2.36)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

TEMPERATURES: Final[Mapping[str, float]] = {
    "writing": 0.7,
    "roleplay": 0.7,
    "reasoning": 0.0,
    "math": 0.0,
    "coding": 0.0,
    "extraction": 0.0,
    "stem": 0.1,
    "humanities": 0.1,
}
"""At which answers are drawn, by category."""

OTHER_TEMPERATURE: Final = 0.7
"""For categories that FastChat does not name."""

WITH_REFERENCE: Final = frozenset({"math", "reasoning", "coding", "arena-hard-200"})
"""Categories whose answers the published prompts hold against a reference."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, turn by turn.

    `references` are right answers, one for each turn, in the words of whoever wrote them (for
    MT-Bench GPT-4, and some are wrong); empty where there are none.
    """

    number: int
    category: str
    turns: tuple[str, ...]
    references: tuple[str, ...] = ()

    @property
    def temperature(self) -> float:
        """At which it is to be answered."""
        return TEMPERATURES.get(self.category, OTHER_TEMPERATURE)
