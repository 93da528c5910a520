"""From rewards and values of decisions to advantages of tokens and returns of decisions.

Axes: N tokens, D decisions, B trajectories, T decisions of one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from drl.ops.masked import whitened
from drl.ops.returns import generalized_advantages, leave_one_out_means, returns_to_go
from drl.ppo.before import Before
from drl.ppo.judged import Judged
from drl.ppo.layout import Layout, decisions_of
from drl.ppo.processes import summed
from drl.ppo.settings import PPOSettings

EQUAL = 1e-6
"""Advantages up to which decisions are as good as each other."""


class Rows(NamedTuple):
    """Decisions by trajectory: their numbers, int [B, T], and bool [B, T] where there is one."""

    decisions_BT: Tensor
    mask_BT: Tensor


def by_trajectory(layout: Layout, device: torch.device) -> Rows:
    """The decisions of each trajectory in a row; padding holds the number 0."""
    rows = list(decisions_of(layout))
    longest = max(map(len, rows))
    padded = [list(row) + [0] * (longest - len(row)) for row in rows]
    lengths_B = torch.tensor([len(row) for row in rows], device=device)
    mask_BT = torch.arange(longest, device=device)[None] < lengths_B[:, None]
    return Rows(torch.tensor(padded, device=device), mask_BT)


def judge(layout: Layout, before: Before, groups: Sequence[int], settings: PPOSettings) -> Judged:
    """How much better each decision was than expected.

    Args:
        layout: the decisions and what they earned.
        before: values, and the KL of each token from the reference.
        groups: of each trajectory, from 0 on; what it is compared within.
        settings: gamma, lam, baseline, and what the KL costs.
    """
    rewards_D = _rewards(layout, before, settings)
    values_D = before.values_D
    places_BT, mask_BT = by_trajectory(layout, rewards_D.device)
    values_BT, rewards_BT = values_D[places_BT], rewards_D[places_BT]
    returns_D, advantages_D = torch.zeros_like(rewards_D), torch.zeros_like(rewards_D)
    used_D = torch.ones_like(advantages_D, dtype=torch.bool)
    if settings.baseline == "critic":
        advantages_BT = generalized_advantages(
            rewards_BT, values_BT, mask_BT, before.after_B, gamma=settings.gamma, lam=settings.lam
        )
        advantages_D[places_BT[mask_BT]] = advantages_BT[mask_BT]
        returns_D = advantages_D + values_D
    else:
        returns_BT = returns_to_go(rewards_BT, mask_BT, settings.gamma, before.after_B)
        returns_D[places_BT[mask_BT]] = returns_BT[mask_BT]
        advantages_D = returns_D
    if settings.baseline == "group":
        # of level dialogue: one decision a trajectory
        groups_D = torch.tensor(groups, device=rewards_D.device)
        baseline_D = leave_one_out_means(returns_D, groups_D)
        used_D = baseline_D.isfinite()
        advantages_D = torch.where(used_D, returns_D - baseline_D, 0.0)
    given = [float("nan") if a is None else a for a in layout.decision_advantage]
    given_D = torch.tensor(given, device=rewards_D.device)
    advantages_D = torch.where(given_D.isnan(), advantages_D, given_D)
    used_D |= ~given_D.isnan()
    weights_D = torch.tensor(layout.decision_weight, device=rewards_D.device)
    return Judged(rewards_D, advantages_D, returns_D, used_D, weights_D)


def _rewards(layout: Layout, before: Before, settings: PPOSettings) -> Tensor:
    """What decisions earned, less what the KL of their tokens from the reference costs."""
    earned_D = torch.tensor(layout.rewards, device=before.log_probs_N.device)
    if settings.kl_as == "loss" or settings.kl_weight == 0:
        return earned_D
    decision_N = torch.tensor(layout.token_decision, dtype=torch.long, device=earned_D.device)
    return earned_D.index_add(0, decision_N, -settings.kl_weight * before.kl_N)


def whiten_used(judged: Judged) -> Judged:
    """The same with the advantages that are used shifted and scaled, once for a whole batch."""
    counts_D = torch.where(judged.used_D, judged.weights_D, 0.0)
    return judged._replace(advantages_D=whitened(judged.advantages_D, counts_D, summed))
