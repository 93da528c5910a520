"""The learning rate of each step of an optimisation, as a share of the highest."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Literal

Schedule = Literal["linear", "cosine", "constant"]

_AFTERWARDS: Mapping[Schedule, Callable[[float], float]] = {
    "linear": lambda done: 1 - done,
    "cosine": lambda done: (1 + math.cos(math.pi * done)) / 2,
    "constant": lambda done: 1.0,
}


def share_of_rate(step: int, *, schedule: Schedule, num_warmup: int, num_steps: int) -> float:
    """The share at `step`, which counts from 0: k/n at the k-th of n steps of warm-up.

    transformers has (k-1)/n there, so that its first step learns nothing, nor does a training of
    one step; and it passes a warm-up by where the schedule is constant. Afterwards both are alike.
    """
    if step < num_warmup:
        return (step + 1) / num_warmup
    done = (step - num_warmup) / max(1, num_steps - num_warmup)
    return _AFTERWARDS[schedule](min(1.0, done))
