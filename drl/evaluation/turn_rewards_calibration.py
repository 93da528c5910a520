"""Whether told session scores mean what they say: sessions told about the same, and what was true.

Axes: S seeds, N sessions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from drl.evaluation.intervals import Estimate, mean_over_tasks
from drl.evaluation.turn_rewards import HeldOut
from drl.types import JSON

MOST_BINS = 10
FEWEST_IN_BIN = 5
"""Sessions of a bin; below, its interval says nothing."""


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """Sessions next to one another in told score: its mean, and the mean true score.

    The interval is over conversations; `n` of `true` counts those.
    """

    told: float
    true: Estimate

    def to_json(self) -> Mapping[str, JSON]:
        """As the report takes it."""
        return {"told": self.told, "true": asdict(self.true)}


def calibration(held_out: Sequence[HeldOut]) -> Sequence[CalibrationBin]:
    """Bins of equally many sessions, from the lowest told score to the highest.

    A session's told score is its mean over seeds. Sessions of equal told score may share a bin
    with others; where all are told the same there is one bin.
    """
    told = np.array([float(session.totals.mean()) for session in held_out])
    order = np.argsort(told, kind="stable")
    num_bins = max(1, min(MOST_BINS, len(held_out) // FEWEST_IN_BIN))
    if np.ptp(told) <= 1e-9 * float(np.abs(told).max(initial=1.0)):
        num_bins = 1
    bins: list[CalibrationBin] = []
    for places in np.array_split(order, num_bins):
        true: defaultdict[str, list[float]] = defaultdict(list)
        for place in places:
            observed = held_out[place].observed
            true[observed.conversation_id].append(observed.score)
        estimate = mean_over_tasks(true)
        assert estimate is not None, "no bin is empty"
        bins.append(CalibrationBin(float(told[places].mean()), estimate))
    return bins
