"""Means with bootstrap intervals over tasks; trials of one task are averaged first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from scipy.stats import bootstrap

from drl.types import JSON

CONFIDENCE = 0.95
NUM_RESAMPLES = 5000


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over `n` tasks and its 95 % percentile-bootstrap interval."""

    value: float
    low: float
    high: float
    n: int


def mean_over_tasks(values: Mapping[str, Sequence[float]]) -> Estimate | None:
    """Mean over tasks of the mean over their trials; None when no task has a value.

    Args:
        values: task id -> one value per trial. Tasks without a value are left out.

    The resampling is seeded, so equal results give equal intervals. One task alone, or tasks that
    are all equal, give an interval of width zero: n says how much that is worth.
    """
    # by task id: the order in which rollouts finish must not show in the resampling
    means = np.array([np.mean(trials) for _, trials in sorted(values.items()) if len(trials)])
    if not means.size:
        return None
    mean = float(means.mean())
    if np.ptp(means) == 0:
        return Estimate(mean, mean, mean, int(means.size))
    interval = bootstrap(
        (means,),
        np.mean,
        n_resamples=NUM_RESAMPLES,
        confidence_level=CONFIDENCE,
        method="percentile",
        rng=np.random.default_rng(0),
    ).confidence_interval
    return Estimate(mean, float(interval.low), float(interval.high), int(means.size))


def pass_hat_k(successes: Mapping[str, Sequence[bool]], k: int) -> Estimate | None:
    """Chance that k trials of one task all succeed: the mean over tasks of C(c, k) / C(n, k).

    Unbiased for each task with c successes in n >= k trials (Yao et al. 2024, arXiv:2406.12045).
    """
    return mean_over_tasks(chances_of_all(successes, k))


def chances_of_all(successes: Mapping[str, Sequence[float]], k: int) -> dict[str, list[float]]:
    """That chance of each task which has k trials."""
    return {
        task: [_all_succeed(sum(trials), len(trials), k)]
        for task, trials in successes.items()
        if len(trials) >= k
    }


def to_json(estimate: Estimate | None) -> JSON:
    """An estimate as summaries hold it; null where there is nothing to estimate from."""
    return None if estimate is None else asdict(estimate)


def _all_succeed(num_successes: float, num_trials: int, k: int) -> float:
    chance = 1.0
    for drawn in range(k):
        chance *= max(0, num_successes - drawn) / (num_trials - drawn)
    return chance
