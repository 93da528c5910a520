"""What rewards of a batch cost under an objective, for every member by itself.

Axes: M members, B sessions, N turns of all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from drl.ops.redistribution import (
    prefix_errors,
    prefix_sums,
    return_errors,
    session_means,
    share_errors,
    variance_of_drawn_mean,
)
from drl.turn_reward.ragged import Layout
from drl.turn_reward.settings import ObjectiveSettings


class Known(NamedTuple):
    """What members take for true of a batch; NaN where nothing is known.

    `scores_MB` float [M, B], scaled; `local_MN` float [M, N], labels or targets.
    """

    scores_MB: Tensor
    local_MN: Tensor


@dataclass(frozen=True, eq=False)
class Link:
    """Labels as `shift` + exp(`log_slope`) * reward / `unit`, float [M] each."""

    shift_M: Tensor
    log_slope_M: Tensor
    unit_M: Tensor


class Losses(NamedTuple):
    """Sums over a batch and what they are to be divided by, float [M] each.

    Kept apart so that batches of a validation can be added up.
    """

    session_sum_M: Tensor
    session_count_M: Tensor
    local_sum_M: Tensor
    local_count_M: Tensor

    def plus(self, other: Losses) -> Losses:
        """Both batches as one."""
        return Losses(*(mine + its for mine, its in zip(self, other, strict=True)))

    def joint(self, weight_M: Tensor) -> Tensor:
        """The objective, float [M], with `weight_M` of the session loss."""
        return weight_M * self.session + (1 - weight_M) * self.local

    @property
    def session(self) -> Tensor:
        """Mean over sessions with a score, float [M]."""
        return self.session_sum_M / self.session_count_M.clamp(min=1e-12)

    @property
    def local(self) -> Tensor:
        """Mean over turns with a label, float [M]."""
        return self.local_sum_M / self.local_count_M.clamp(min=1e-12)


def losses(
    settings: ObjectiveSettings,
    rewards_MN: Tensor,
    layout: Layout,
    known: Known,
    link: Link,
    drawn_MN: Tensor | None,
) -> Losses:
    """Both losses of members that share these settings.

    Args:
        settings: of the objective; its weight is left to `Losses.joint`.
        rewards_MN: float [M, N].
        layout: of the batch.
        known: what is true.
        link: from rewards to labels, where it is affine.
        drawn_MN: float [M, N], how often each turn was drawn; None: look at all, once each.
    """
    is_scored_MB = ~known.scores_MB.isnan()
    session_MB = torch.zeros_like(known.scores_MB)
    if settings.session != "none":
        scores_MB = known.scores_MB.nan_to_num()
        session_MB = session_losses(settings, rewards_MN, layout, scores_MB, drawn_MN)
    is_labelled_MN = ~known.local_MN.isnan()
    weights_MN = is_labelled_MN.to(rewards_MN.dtype)
    if settings.local_drawn and drawn_MN is not None:
        weights_MN = weights_MN * drawn_MN
    local_MN = torch.zeros_like(rewards_MN)
    if settings.local != "none":
        told_MN = rewards_MN
        if settings.is_affine:
            slope_M = link.log_slope_M.exp() / link.unit_M
            told_MN = link.shift_M[:, None] + slope_M[:, None] * rewards_MN
        local_MN = (told_MN - known.local_MN.nan_to_num()).square()
    count_MB = is_scored_MB.to(rewards_MN.dtype)
    return Losses(
        (session_MB * count_MB).sum(1),
        count_MB.sum(1),
        (local_MN * weights_MN).sum(1),
        weights_MN.sum(1),
    )


def session_losses(
    settings: ObjectiveSettings,
    rewards_MN: Tensor,
    layout: Layout,
    scores_MB: Tensor,
    drawn_MN: Tensor | None,
) -> Tensor:
    """The session loss of each session, float [M, B]; see `losses` for the arguments."""
    session_N, num = layout.session_N, layout.num_sessions
    sizes_B = sizes(settings, layout.lengths_B, rewards_MN.dtype)
    all_MN = torch.ones_like(rewards_MN)
    if settings.session == "rudder":
        prefix_MN = prefix_sums(rewards_MN, session_N, layout.starts_B)
        return prefix_errors(
            prefix_MN * (sizes_B / layout.lengths_B)[session_N],
            session_N,
            layout.starts_B,
            layout.lengths_B,
            scores_MB,
            squared_mean=settings.rudder_squared_mean,
        )
    if settings.session in ("uniform", "ircr"):
        is_drawn = settings.session == "ircr" and drawn_MN is not None
        weights_MN = drawn_MN if is_drawn and drawn_MN is not None else all_MN
        return share_errors(rewards_MN, weights_MN, session_N, sizes_B, scores_MB)
    if settings.session == "sum" or drawn_MN is None:
        means_MB = session_means(rewards_MN, all_MN, session_N, num)
        return return_errors(means_MB, sizes_B, scores_MB)
    means_MB = session_means(rewards_MN, drawn_MN, session_N, num)
    errors_MB = return_errors(means_MB, sizes_B, scores_MB)
    if settings.unbiased:
        excess_MB = variance_of_drawn_mean(
            rewards_MN, drawn_MN, session_N, layout.lengths_B, replaced=settings.replaced
        )
        errors_MB = errors_MB - sizes_B.square() * excess_MB
    return errors_MB


def sizes(settings: ObjectiveSettings, lengths_B: Tensor, dtype: torch.dtype) -> Tensor:
    """How many mean rewards each session amounts to, float [B]."""
    if settings.total == "mean":
        return torch.ones(len(lengths_B), dtype=dtype, device=lengths_B.device)
    if settings.length is not None:
        return torch.full_like(lengths_B, settings.length).to(dtype)
    return lengths_B.to(dtype)
