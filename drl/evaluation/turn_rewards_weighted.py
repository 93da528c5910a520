"""Statistics of sessions that count several times each, for many resamples at once.

A resample is a row of weights: how often each item was drawn. What is told equals the same
statistic of the items written out that often (tested), without writing them out.

Axes: R resamples, N items. What cannot be told is NaN.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_TIED_DECIMALS = 5
"""Values that agree to so many decimals of a great one are equal: sums of one constant, added up
in different orders or in single precision, must not look like an order."""
_GREAT = 0.9
"""The share of values that are no greater than that one; the largest may stand far from all."""


def with_ties(values: Floats) -> Floats:
    """The values [N] in a unit of their own, rounded so that what only rounding parts is equal."""
    return np.round(values / _unit(values), _TIED_DECIMALS)


def _unit(values: Floats) -> float:
    sizes = np.abs(values[values != 0])
    return float(np.quantile(sizes, _GREAT, method="lower")) if sizes.size else 1.0


def mean(values_N: Floats, counts_RN: Floats) -> Floats:
    """[R]: the mean of the values that are not NaN."""
    is_known = np.isfinite(values_N)
    return ratio(counts_RN @ np.where(is_known, values_N, 0.0), counts_RN @ is_known.astype(float))


def ratio(above: Floats, below: Floats) -> Floats:
    """The quotient, NaN where it is one of zeros."""
    return np.divide(above, below, out=np.full(np.shape(above), np.nan), where=below != 0)


def correlation(predicted: Floats, true: Floats, counts_RN: Floats) -> Floats:
    """[R]: Pearson's correlation of values, each [N] or [R, N].

    0 where the predicted values are all equal: they tell no order. NaN where the true ones are.
    """
    of_predicted, of_true = _centred(predicted, counts_RN), _centred(true, counts_RN)
    joint = (counts_RN * of_predicted * of_true).sum(axis=1)
    spread_predicted = (counts_RN * of_predicted**2).sum(axis=1)
    spread_true = (counts_RN * of_true**2).sum(axis=1)
    found = ratio(joint, np.sqrt(spread_predicted * spread_true))
    return np.where(_is_flat(spread_true), np.nan, np.where(_is_flat(spread_predicted), 0.0, found))


def rank_correlation(predicted_N: Floats, true_N: Floats, counts_RN: Floats) -> Floats:
    """[R]: Spearman's correlation, ties given their mean rank; see `correlation`."""
    return correlation(ranks(predicted_N, counts_RN), ranks(true_N, counts_RN), counts_RN)


def ranks(values_N: Floats, counts_RN: Floats) -> Floats:
    """[R, N]: where each item stands among all that were drawn, ties at their middle."""
    _, group = np.unique(with_ties(values_N), return_inverse=True)
    sizes = np.zeros((len(counts_RN), int(group.max(initial=-1)) + 1))
    np.add.at(sizes.T, group, counts_RN.T)
    middles = np.cumsum(sizes, axis=1) - sizes / 2
    return middles[:, group]


def slope(predicted_N: Floats, true_N: Floats, counts_RN: Floats) -> Floats:
    """[R]: of the least-squares line of the true values over the predicted; NaN where those are
    all equal."""
    of_predicted = _centred(with_ties(predicted_N), counts_RN)
    joint = (counts_RN * of_predicted * _centred(true_N, counts_RN)).sum(axis=1)
    spread = (counts_RN * of_predicted**2).sum(axis=1)
    return np.where(_is_flat(spread), np.nan, ratio(joint, spread * _unit(predicted_N)))


def pairs_won(values_N: Floats, is_positive_N: NDArray[np.bool_], place_N: NDArray) -> Floats:
    """[C, C]: in how many pairs a positive of the one is above a negative of the other.

    Ties count half. With `counts` of how often each place was drawn, the area under the curve is
    counts @ won @ counts over the number of pairs: so the pairs are counted but once.

    Args:
        values_N: by which they are ordered.
        is_positive_N: all others are negatives.
        place_N: int, to which of C places each belongs.
    """
    num_places = int(place_N.max(initial=-1)) + 1
    _, group = np.unique(values_N, return_inverse=True)
    num_groups = int(group.max(initial=-1)) + 1
    negatives = np.zeros((num_groups, num_places), dtype=np.float32)
    np.add.at(negatives, (group[~is_positive_N], place_N[~is_positive_N]), 1.0)
    below = np.cumsum(negatives, axis=0, dtype=np.float64) - negatives / 2
    won = np.zeros((num_places, num_places))
    np.add.at(won, place_N[is_positive_N], below[group[is_positive_N]])
    return won


def _centred(values: Floats, counts_RN: Floats) -> Floats:
    """[R, N]: values less their mean in each resample."""
    values = np.broadcast_to(values, counts_RN.shape)
    means = (counts_RN * values).sum(axis=1) / counts_RN.sum(axis=1)
    return values - means[:, None]


def _is_flat(spread: Floats) -> NDArray[np.bool_]:
    return spread <= 1e-12 * max(float(spread.max(initial=0.0)), 1e-12)
