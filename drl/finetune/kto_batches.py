"""The order and the weights of labelled rows for KTO.

KTO estimates how far the policy is from its reference with outputs that are put after prompts of
other rows in the same batch (arXiv:2402.01306). Rows of one task would make near-matches of them.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Hashable, Sequence

MOST = 4 / 3
"""Bound of (weight x number of good rows) over that of bad ones, which KTO's authors recommend."""


def batches(tasks: Sequence[Hashable], batch_size: int, seed: int) -> list[list[int]]:
    """Positions of rows in batches in which no task comes twice; whatever does not fill one is out.

    Tasks with most rows left come first, so that as few rows as can be are left over; rows, and
    tasks with equally many, are in an order that the seed draws. So are the batches.
    """
    draw = random.Random(seed)
    order = list(range(len(tasks)))
    draw.shuffle(order)
    left: defaultdict[Hashable, list[int]] = defaultdict(list)
    for position in order:
        left[tasks[position]].append(position)
    made: list[list[int]] = []
    while len(left) >= batch_size:
        largest = sorted(left, key=lambda task: len(left[task]), reverse=True)[:batch_size]
        made.append([left[task].pop() for task in largest])
        for task in largest:
            if not left[task]:
                del left[task]
    draw.shuffle(made)
    return made


def mismatched(batch: Sequence[int]) -> list[int]:
    """For each row of a batch, the row whose output is put after its prompt: the one before it."""
    return [batch[-1], *batch[:-1]]


def undesirable_weight(num_good: int, num_bad: int) -> float:
    """The weight of bad rows, good ones weighing 1, that is nearest to 1 within the bounds.

    The bounds are 1 <= num_good / (weight * num_bad) <= 4/3 (arXiv:2402.01306, equation 8).
    """
    if not num_good or not num_bad:
        return 1.0
    ratio = num_good / num_bad
    if ratio > MOST:
        return ratio / MOST
    return min(1.0, ratio)
