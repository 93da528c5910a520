"""How far raters agree beyond chance."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from drl.evaluation.intervals import CONFIDENCE, Estimate

_NUM_RESAMPLES = 2000


def krippendorff_alpha(
    ratings: Mapping[str, Sequence[Sequence[Hashable]]],
) -> Estimate | None:
    """Krippendorff's alpha for nominal values, and its bootstrap interval over items.

    1 is perfect agreement, 0 that of chance. None where nothing tells: no unit has two ratings, or
    all ratings are equal. The interval leaves out the draws in which that is so.

    Args:
        ratings: item -> its units -> the values that raters gave the unit. Units of one item are
            drawn together. Units with fewer than two values count for nothing.

    Source: Krippendorff 2011, Computing Krippendorff's alpha-reliability, part C.
    """
    values = sorted({repr(v) for units in ratings.values() for unit in units for v in unit})
    places = {value: place for place, value in enumerate(values)}
    counts = np.zeros((len(ratings), len(values)))
    disagreements = np.zeros(len(ratings))
    for row, units in enumerate(ratings.values()):
        for unit in units:
            if len(unit) < 2:
                continue
            of_unit = np.bincount([places[repr(v)] for v in unit], minlength=len(values))
            counts[row] += of_unit
            differing = len(unit) ** 2 - np.square(of_unit).sum()
            disagreements[row] += differing / (len(unit) - 1)
    used = counts.sum(axis=1) > 0
    counts, disagreements = counts[used], disagreements[used]
    value = _alpha(counts.sum(axis=0, keepdims=True), disagreements.sum(keepdims=True))[0]
    if np.isnan(value):
        return None
    draws = np.random.default_rng(0).multinomial(
        len(counts), np.full(len(counts), 1 / len(counts)), size=_NUM_RESAMPLES
    )
    resampled = _alpha(draws @ counts, draws @ disagreements)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.nanquantile(resampled, [tail, 1 - tail])
    return Estimate(float(value), float(low), float(high), len(counts))


def _alpha(
    counts_BC: NDArray[np.float64], disagreements_B: NDArray[np.float64]
) -> NDArray[np.float64]:
    """1 - (n - 1) sum of observed over sum of expected disagreements; NaN where none could be."""
    n_B = counts_BC.sum(axis=1)
    expected_B = np.square(n_B) - np.square(counts_BC).sum(axis=1)
    possible = expected_B > 0
    ratio_B = (n_B - 1) * disagreements_B / np.where(possible, expected_B, 1.0)
    return np.where(possible, 1 - ratio_B, np.nan)
