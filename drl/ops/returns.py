"""Returns and advantages of sequences of decisions (tokens, turns, or whole dialogues).

Axes: B dialogues, T decisions, right-padded. Masks are bool and True where a decision counts.
"""

from __future__ import annotations

import torch
from torch import Tensor


def returns_to_go(rewards_BT: Tensor, mask_BT: Tensor, gamma: float, after_B: Tensor) -> Tensor:
    """The discounted sum of a decision's reward and all that follow, float [B, T]; 0 in padding.

    Args:
        rewards_BT: float [B, T].
        mask_BT: bool [B, T].
        gamma: discount of one decision, in [0, 1].
        after_B: float [B], what is expected after the last decision; 0 where nothing more comes.
    """
    return generalized_advantages(
        rewards_BT, torch.zeros_like(rewards_BT), mask_BT, after_B, gamma=gamma, lam=1.0
    )


def generalized_advantages(
    rewards_BT: Tensor,
    values_BT: Tensor,
    mask_BT: Tensor,
    after_B: Tensor,
    *,
    gamma: float,
    lam: float,
) -> Tensor:
    """Generalised advantage estimates, float [B, T]; 0 in padding.

    A_t = delta_t + gamma lam A_{t+1} with delta_t = r_t + gamma V_{t+1} - V_t. With lam 1 this is
    the return less the value, with lam 0 the error of one step.

    Args:
        rewards_BT: float [B, T].
        values_BT: float [B, T], of the state before each decision.
        mask_BT: bool [B, T]; a row counts up to some place and not after it.
        after_B: float [B], the value after the last decision; 0 where nothing more comes.
        gamma: discount of one decision, in [0, 1].
        lam: how far rewards are looked at before values are trusted, in [0, 1].

    Source: Schulman et al. 2016 (arXiv:1506.02438), equation 16.
    """
    if not rewards_BT.shape == values_BT.shape == mask_BT.shape:
        raise ValueError(
            f"rewards {tuple(rewards_BT.shape)}, values {tuple(values_BT.shape)} and mask "
            f"{tuple(mask_BT.shape)} must have one shape [B, T]"
        )
    advantages_BT = torch.zeros_like(rewards_BT)
    next_value_B = after_B.to(rewards_BT.dtype)
    next_advantage_B = torch.zeros_like(next_value_B)
    for step in reversed(range(rewards_BT.shape[1])):
        counts_B = mask_BT[:, step]
        delta_B = rewards_BT[:, step] + gamma * next_value_B - values_BT[:, step]
        advantage_B = delta_B + gamma * lam * next_advantage_B
        advantages_BT[:, step] = torch.where(counts_B, advantage_B, 0.0)
        next_advantage_B = torch.where(counts_B, advantage_B, next_advantage_B)
        next_value_B = torch.where(counts_B, values_BT[:, step], next_value_B)
    return advantages_BT


def leave_one_out_means(values_N: Tensor, groups_N: Tensor) -> Tensor:
    """For each value the mean of the others of its group, float [N]; NaN where it is alone.

    As a baseline it is unbiased, since it does not depend on what it is subtracted from.

    Args:
        values_N: float [N].
        groups_N: int [N], from 0 on.

    Source: Kool et al. 2019, "Buy 4 REINFORCE samples, get a baseline for free!".
    """
    num_groups = int(groups_N.max()) + 1 if len(groups_N) else 0
    zeros_G = values_N.new_zeros(num_groups)
    sums_G = zeros_G.index_add(0, groups_N, values_N)
    counts_G = zeros_G.index_add(0, groups_N, torch.ones_like(values_N))
    others_N = counts_G[groups_N] - 1
    return torch.where(others_N > 0, (sums_G[groups_N] - values_N) / others_N, torch.nan)
