"""What a few tries say of the chance of success behind them."""

from __future__ import annotations

from dataclasses import dataclass

from scipy.stats import beta

from drl.evaluation.intervals import CONFIDENCE
from drl.tree.chance import Chance


@dataclass(frozen=True, slots=True)
class Posterior:
    """A chance in [0, 1]: its mean, and the 95 % interval with equal tails."""

    mean: float
    low: float
    high: float


def posterior(successes: int, tries: int) -> Posterior:
    """The Beta posterior of a chance after so many independent tries (Jeffreys 1946)."""
    chance = Chance.after(successes, tries)
    a, b = chance.a, chance.b
    tail = (1 - CONFIDENCE) / 2
    return Posterior(a / (a + b), float(beta.ppf(tail, a, b)), float(beta.ppf(1 - tail, a, b)))


def certain(is_success: bool) -> Posterior:
    """The chance of what is known."""
    return Posterior(*[float(is_success)] * 3)
