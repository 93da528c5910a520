"""The best of n texts of one policy: what another policy must be held against at equal distance.

Drawing several texts and keeping the best one moves away from a policy as learning does, and needs
no learning. The n that takes it as far is known from the distance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby


def best_of_kl(number: int) -> float:
    """How far the best of so many texts is from one of them, at most, in nats a text.

    log n - (n - 1) / n, and just that where no two texts earn the same (arXiv:2401.01879).
    """
    return math.log(number) - (number - 1) / number


def tries_at(kl: float, most: int) -> int:
    """The largest n, up to `most`, for which the best of n texts is at most so far from one.

    Args:
        kl: in nats a text.
        most: how many texts there are.
    """
    number = 1
    while number < most and best_of_kl(number + 1) <= kl:
        number += 1
    return number


def expected_best(rewards: Sequence[float], number: int) -> float:
    """The mean of the best of so many draws without replacement, over all ways to draw them."""
    value = worth_of_best(rewards, rewards, number)
    assert value is not None, "every text has its own reward"
    return value


def worth_of_best(
    rewards: Sequence[float], worths: Sequence[float | None], number: int
) -> float | None:
    """What the text that earns most is worth, in the mean over all ways to draw so many.

    Where several earn the same, one of them is taken by chance. Texts of unknown worth are left out
    of the mean; it is None where no text that can be chosen has a known worth.

    Args:
        rewards: of all texts, by which the best one is chosen.
        worths: of the same texts, by somebody else.
        number: draws without replacement, at most as many as there are texts.
    """
    total = math.comb(len(rewards), number)
    ordered = sorted(zip(rewards, worths, strict=True), key=lambda pair: pair[0])
    chance_known, value, first = 0.0, 0.0, 0
    for _, group in groupby(ordered, key=lambda pair: pair[0]):
        tied = [worth for _, worth in group]
        last = first + len(tied)
        # one of these is the best where all draws come from the first `last`, and not from before
        chance = (math.comb(last, number) - math.comb(first, number)) / total / len(tied)
        known = [worth for worth in tied if worth is not None]
        chance_known += chance * len(known)
        value += chance * sum(known)
        first = last
    return value / chance_known if chance_known else None
