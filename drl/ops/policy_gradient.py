"""The terms of a policy gradient, one number for each token or decision.

What they are weighted by and divided by is the caller's. Log-probabilities are natural logs.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import torch
from torch import Tensor

KLEstimator = Literal["k1", "k2", "k3"]


class Surrogate(NamedTuple):
    """What is minimised, float [N], and where the clip took effect, bool [N]."""

    loss: Tensor
    is_clipped: Tensor


def clipped_surrogate(
    log_probs_N: Tensor, old_log_probs_N: Tensor, advantages_N: Tensor, clip: float
) -> Surrogate:
    """PPO's pessimistic surrogate, negated: -min(r A, clip(r, 1 - clip, 1 + clip) A).

    Args:
        log_probs_N: float [N], of the policy that learns.
        old_log_probs_N: float [N], of the policy that acted; without gradient.
        advantages_N: float [N]; without gradient.
        clip: how far the ratio r may leave 1 before there is nothing more to gain.

    Source: Schulman et al. 2017 (arXiv:1707.06347), equation 7.
    """
    ratio_N = (log_probs_N - old_log_probs_N).exp()
    free_N = ratio_N * advantages_N
    bounded_N = ratio_N.clamp(1 - clip, 1 + clip) * advantages_N
    return Surrogate(-torch.minimum(free_N, bounded_N), (bounded_N < free_N).detach())


def clipped_value_loss(
    values_N: Tensor, old_values_N: Tensor, returns_N: Tensor, clip: float | None
) -> Surrogate:
    """Half the squared error; with a clip the worse of that and of a value near the old one.

    Source: the reference code of arXiv:1707.06347 (baselines, ppo2).
    """
    free_N = (values_N - returns_N).square()
    if clip is None:
        return Surrogate(0.5 * free_N, torch.zeros_like(free_N, dtype=torch.bool))
    near_N = old_values_N + (values_N - old_values_N).clamp(-clip, clip)
    bounded_N = (near_N - returns_N).square()
    return Surrogate(0.5 * torch.maximum(free_N, bounded_N), (bounded_N > free_N).detach())


def kl_estimate(log_probs_N: Tensor, other_N: Tensor, estimator: KLEstimator) -> Tensor:
    """KL(policy || other) estimated from tokens that the policy drew, float [N].

    `k1` is unbiased and may be negative, `k2` half its square, `k3` unbiased and never negative.

    Source: Schulman 2020, "Approximating KL divergence".
    """
    difference_N = log_probs_N - other_N
    if estimator == "k1":
        return difference_N
    if estimator == "k2":
        return 0.5 * difference_N.square()
    return torch.expm1(-difference_N) + difference_N


def entropies(logits_NV: Tensor) -> Tensor:
    """Entropy of softmax(logits) in nats, float [N]; 0 log 0 is 0."""
    log_probs_NV = logits_NV.log_softmax(dim=-1)
    probs_NV = log_probs_NV.exp()
    return -torch.where(probs_NV > 0, probs_NV * log_probs_NV, 0.0).sum(dim=-1)


def explained_variance(values_N: Tensor, returns_N: Tensor) -> float:
    """1 - Var(returns - values) / Var(returns): 1 for a perfect critic, 0 for a constant.

    NaN where the returns do not vary, or there are none.
    """
    if not len(returns_N):
        return float("nan")
    variance = returns_N.var(correction=0)
    if not variance > 0:
        return float("nan")
    return float(1 - (returns_N - values_N).var(correction=0) / variance)
