"""Two runs over the same tasks: the paired difference, its interval, and whether it is chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import permutation_test

from drl.evaluation.intervals import mean_over_tasks

_NUM_PERMUTATIONS = 10_000


@dataclass(frozen=True, slots=True)
class Difference:
    """A mean difference over `n` shared tasks with its 95 % paired-bootstrap interval.

    `p` is that of a two-sided test in which, if nothing differs, every task's difference might as
    well have the other sign.
    """

    value: float
    low: float
    high: float
    n: int
    p: float


def paired_difference(
    first: Mapping[str, Sequence[float]], second: Mapping[str, Sequence[float]]
) -> Difference | None:
    """Second minus first over the tasks that have values in both; None where there is none.

    Args:
        first: task id -> one value per trial; trials are averaged within their task.
        second: the same for the other run.
    """
    gaps = paired_gaps(first, second)
    estimate = mean_over_tasks({task: [gap] for task, gap in gaps.items()})
    if estimate is None:
        return None
    p = _sign_flip_p(np.array(list(gaps.values())))
    return Difference(estimate.value, estimate.low, estimate.high, estimate.n, p)


def paired_gaps(
    first: Mapping[str, Sequence[float]], second: Mapping[str, Sequence[float]]
) -> dict[str, float]:
    """Second minus first for each task that has values in both, by task id in order."""
    shared = sorted(task for task in first if first[task] and second.get(task))
    return {task: float(np.mean(second[task]) - np.mean(first[task])) for task in shared}


def holm(differences: Sequence[Difference]) -> list[Difference]:
    """The same with p values that hold for all of them together (Holm 1979)."""
    order = sorted(range(len(differences)), key=lambda i: differences[i].p)
    corrected = list(differences)
    highest = 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, differences[index].p * (len(order) - rank)))
        corrected[index] = replace(differences[index], p=highest)
    return corrected


def smallest_p(num_tasks: int) -> float:
    """The least that the test of so many tasks can give: all differences have one sign."""
    return min(1.0, 2.0 ** (1 - num_tasks))


def _sign_flip_p(gaps: np.ndarray) -> float:
    """Exact for few tasks, else seeded draws."""
    if gaps.size < 2 or not gaps.any():
        return 1.0
    test = permutation_test(
        (gaps,),
        np.mean,
        permutation_type="samples",
        vectorized=True,
        n_resamples=_NUM_PERMUTATIONS,
        rng=np.random.default_rng(0),
    )
    return float(test.pvalue)
