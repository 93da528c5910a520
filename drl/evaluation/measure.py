"""One measure in two runs: what differs, and whether chance alone may make that difference."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

from drl.evaluation.intervals import Estimate, mean_over_tasks, to_json
from drl.evaluation.paired import Difference, paired_difference, paired_gaps
from drl.evaluation.power import (
    ALPHA,
    NoiseFloor,
    detectable_difference,
    noise_floor,
    standard_deviation,
)
from drl.evaluation.run_result import Trials
from drl.types import JSON


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure in both runs, over the tasks of the comparison.

    `difference` is other minus base within tasks; None where tasks are not paired. `p_holm` is set
    for measures that decide. `detectable` is the true difference that such a comparison finds in
    four of five cases; None where no task differs from another.
    """

    base: Estimate
    other: Estimate
    difference: Difference | None
    floor: NoiseFloor | None
    detectable: float | None
    p_holm: float | None = None

    @property
    def is_shown(self) -> bool:
        """Whether it decides, and differs by more than chance."""
        return self.p_holm is not None and not self.doubts()

    def doubts(self) -> list[str]:
        """Why its difference may be chance; empty if that is not plausible."""
        gap, floor = self.difference, self.floor
        if gap is None or floor is None:
            return ["too few tasks are paired"]
        if gap.value == 0 and self.detectable is None:
            return ["every task came out alike"]
        found: list[str] = []
        if gap.low <= 0 <= gap.high or abs(gap.value) < floor.value:
            # half of the interval, on the side of 0
            margin = gap.value - gap.low if gap.value > 0 else gap.high - gap.value
            needed = max(margin, floor.value)
            found.append(f"at least {needed:.3f} would have been needed")
        p = gap.p if self.p_holm is None else self.p_holm
        if p >= ALPHA:
            found.append(f"chance gives as much with p={p:.4f}")
        return found

    def to_json(self) -> dict[str, JSON]:
        """All numbers, and whether they show a difference (null where it does not decide)."""
        return {
            "base": to_json(self.base),
            "other": to_json(self.other),
            "difference": None if self.difference is None else asdict(self.difference),
            "p_holm": self.p_holm,
            "noise_floor": None if self.floor is None else asdict(self.floor),
            "detectable": self.detectable,
            "shown": None if self.p_holm is None else self.is_shown,
        }


def measured(first: Trials, second: Trials, *, is_paired: bool) -> Measure | None:
    """A measure of two runs, before any correction; None where one of them has no value.

    Args:
        first: of the base.
        second: of the other run.
        is_paired: compare task by task, over the tasks that have values in both.
    """
    gaps = paired_gaps(first, second)
    if is_paired:
        first, second = ({task: run[task] for task in gaps} for run in (first, second))
    base, other = mean_over_tasks(first), mean_over_tasks(second)
    if base is None or other is None:
        return None
    if not is_paired:
        return Measure(base, other, None, None, None)
    spread = standard_deviation(gaps) if len(gaps) > 1 else math.nan
    detectable = detectable_difference(spread, len(gaps)) if spread > 0 else None
    gap, floor = paired_difference(first, second), noise_floor(first, second)
    return Measure(base, other, gap, floor, detectable)


def words_of(name: str) -> str:
    """The name of a measure as a reader is told it."""
    return name.replace("_", " ")
