"""What is true of a batch before anything is learned from it, and what is told of that.

Axes: N tokens, D decisions, B trajectories.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from drl.ops.policy_gradient import explained_variance
from drl.ppo.batches import MicroBatch
from drl.ppo.judged import Judged
from drl.ppo.layout import Layout, TokenSequence
from drl.ppo.policy import Policy
from drl.ppo.trajectory import Trajectory


class Before(NamedTuple):
    """Scores of the policy that acted and of its reference, float [N]; values, float [D], [B].

    `after_B` is the value of what would have come next, 0 where nothing.
    """

    log_probs_N: Tensor
    entropies_N: Tensor
    reference_N: Tensor
    values_D: Tensor
    after_B: Tensor

    @property
    def kl_N(self) -> Tensor:
        """What each token adds to the KL from the reference (k1), float [N]."""
        return self.log_probs_N - self.reference_N


@torch.no_grad()
def score_before(
    policy: Policy,
    layout: Layout,
    num_trajectories: int,
    micro_batches: Callable[[Sequence[TokenSequence]], Iterable[MicroBatch]],
) -> Before:
    """Score a batch.

    Args:
        policy: as it acted.
        layout: the batch.
        num_trajectories: B.
        micro_batches: sequences in batches that fit into memory.
    """
    device = policy.model.device
    log_probs_N = torch.zeros(len(layout.token_decision), device=device)
    entropies_N, reference_N = torch.zeros_like(log_probs_N), torch.zeros_like(log_probs_N)
    values_D = torch.zeros(len(layout.rewards), device=device)
    after_B = torch.zeros(num_trajectories, device=device)
    read = [s for s in layout.sequences if s.spans or (s.sites and policy.has_critic)]
    for each in micro_batches(read):
        scored = policy(each.batch)
        log_probs_N[each.tokens_N] = scored.log_probs
        entropies_N[each.tokens_N] = scored.entropies
        values_D[each.decisions_M] = scored.values
    if policy.has_critic:
        for each in micro_batches(layout.after):
            after_B[each.decisions_M] = policy(each.batch).values
    with policy.as_at_start():
        for each in micro_batches([sequence for sequence in layout.sequences if sequence.spans]):
            reference_N[each.tokens_N] = policy(each.batch).log_probs
    return Before(log_probs_N, entropies_N, reference_N, values_D, after_B)


def describe(
    trajectories: Sequence[Trajectory],
    layout: Layout,
    before: Before,
    judged: Judged,
    *,
    has_critic: bool,
) -> dict[str, float]:
    """What the batch was like, under the names that TRL's PPO gave such numbers.

    `objective/kl` is summed over a trajectory's tokens; `sampler/log_prob_gap` is by how much a
    token's log-probability here and the sampler's differ, on average. `num_sequences` are read in
    one go each: as many as trajectories where every prompt goes on from the last, as many as calls
    where none does. A mean of nothing is NaN.
    """
    num = len(trajectories)
    kl = before.kl_N.sum().item() / num
    scores = sum(trajectory.total for trajectory in trajectories) / num
    penalties = (judged.rewards_D.sum().item() - sum(layout.rewards)) / num
    sampled_N = before.log_probs_N.new_tensor(layout.sampled_log_probs)
    used_D = judged.used_D & (judged.weights_D > 0)
    return {
        "objective/scores": scores,
        "objective/kl": kl,
        "objective/entropy": before.entropies_N.mean().item(),
        "objective/non_score_reward": penalties,
        "objective/rlhf_reward": scores + penalties,
        "val/mean": before.values_D[used_D].mean().item(),
        "val/explained_variance": (
            explained_variance(before.values_D[used_D], judged.returns_D[used_D])
            if has_critic
            else float("nan")
        ),
        "sampler/log_prob_gap": (sampled_N - before.log_probs_N).abs().mean().item(),
        "num_trajectories": float(num),
        "num_turns": float(sum(len(trajectory.turns) for trajectory in trajectories)),
        "num_decisions": float(len(layout.rewards)),
        "num_sequences": float(len(layout.sequences)),
        "num_tokens": float(len(layout.token_decision)),
        "num_unused_decisions": float((~judged.used_D).sum().item()),
    }
