"""Sums and means over what a mask counts.

A mean over one batch that is computed in parts (padding, accumulation, several devices) must not
depend on the parts. So there is no mean of a part here: a part gives a sum, and whoever knows the
whole divides by its total.

Masks are bool and True where something counts; shapes are free, but equal.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor


def masked_sum(values: Tensor, mask: Tensor) -> Tensor:
    """The sum of what counts, float []; what does not count may be anything, NaN included."""
    return torch.where(mask, values, torch.zeros_like(values)).sum()


def whitened(
    values: Tensor,
    weights: Tensor,
    summed: Callable[[Tensor], Tensor] = lambda part: part,
    smallest: float = 1e-8,
) -> Tensor:
    """Values shifted and scaled to weighted mean 0 and variance 1; equal values become 0.

    Where nothing counts they stay as they are.

    Args:
        values: float [N].
        weights: float [N], how often each counts.
        summed: adds up the sums of parts, where this is one of several.
        smallest: added to the standard deviation.

    Source: advantage normalisation as in PPO's reference code (arXiv:1707.06347), with the
    population variance, so that a value that counts twice is as good as two values.
    """
    total = summed(weights.sum())
    if not total > 0:
        return values
    mean = summed((weights * values).sum()) / total
    variance = summed((weights * (values - mean).square()).sum()) / total
    return (values - mean) / (variance.sqrt() + smallest)
