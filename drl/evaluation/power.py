"""How large a difference between two runs has to be before it says anything."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.optimize import root_scalar
from scipy.stats import nct, norm, t

from drl.evaluation.intervals import CONFIDENCE
from drl.evaluation.paired import paired_gaps

ALPHA = 0.05
POWER = 0.8


@dataclass(frozen=True, slots=True)
class NoiseFloor:
    """What two runs of one and the same policy differ by at most, in 19 of 20 pairs of runs.

    `source` is "trials" where it comes from how trials of one task differ, and "tasks" where every
    task was tried once: then what truly differs between tasks is in it too, so it is too high
    rather than too low.
    """

    value: float
    source: Literal["trials", "tasks"]


def detectable_difference(sd: float, n: int, power: float = POWER, alpha: float = ALPHA) -> float:
    """The true mean difference that a paired two-sided t test over `n` tasks finds so often.

    Infinite for fewer than two tasks. Exact for normal differences, by the noncentral t
    distribution (Cohen 1988, chapter 2); for many tasks 2.8 times `sd` over the root of `n`.

    Args:
        sd: standard deviation of the differences within tasks.
        power: share of such comparisons in which the difference is found; above `alpha`.
    """
    if n < 2:
        return math.inf
    critical = t.isf(alpha / 2, n - 1)

    def lack(effect: float) -> float:
        # finds in the wrong direction do not count
        return float(nct.sf(critical, n - 1, effect * math.sqrt(n))) - power

    # far enough: there the estimate lies twice as many standard errors off as any level asks for
    top = 2 * (critical + t.isf(1 - power, n - 1) + 5) / math.sqrt(n)
    return sd * float(root_scalar(lack, bracket=(0.0, top)).root)


def noise_floor(
    first: Mapping[str, Sequence[float]], second: Mapping[str, Sequence[float]]
) -> NoiseFloor | None:
    """The noise floor of the mean difference over shared tasks; None for fewer than two of them.

    Trials of one task vary by one pooled variance, whichever run and task they are of.

    Args:
        first: task id -> one value per trial.
        second: the same for the other run.
    """
    gaps = paired_gaps(first, second)
    if len(gaps) < 2:
        return None
    quantile = float(norm.ppf(0.5 + CONFIDENCE / 2))
    trials = [run[task] for task in gaps for run in (first, second)]
    freedom = sum(len(values) - 1 for values in trials)
    if not freedom:
        return NoiseFloor(quantile * standard_deviation(gaps) / math.sqrt(len(gaps)), "tasks")
    squares = sum(len(values) * float(np.var(values)) for values in trials)
    error = math.sqrt(squares / freedom * sum(1 / len(values) for values in trials)) / len(gaps)
    return NoiseFloor(quantile * error, "trials")


def standard_deviation(gaps: Mapping[str, float]) -> float:
    """Of the differences within two or more tasks, as an estimate for all tasks."""
    return float(np.std(list(gaps.values()), ddof=1))
