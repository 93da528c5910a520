"""The loss of one minibatch, which may be computed in micro-batches.

Axes: N tokens of a micro-batch, M decisions of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from drl.ops.masked import masked_sum
from drl.ops.policy_gradient import clipped_surrogate, clipped_value_loss, kl_estimate
from drl.ppo.batches import MicroBatch
from drl.ppo.before import Before
from drl.ppo.policy import Scored
from drl.ppo.processes import summed
from drl.ppo.settings import PPOSettings
from drl.ppo.targets import Targets

_NONE = 1e-8  # of a minibatch in which nothing counts, so that its loss is 0


@dataclass(frozen=True, slots=True)
class Objective:
    """PPO's loss over a minibatch; its sums are divided by `all_shares` and `all_weights`."""

    settings: PPOSettings
    before: Before
    targets: Targets
    all_shares: Tensor
    all_weights: Tensor
    uses_values: bool

    @classmethod
    def of(
        cls,
        minibatch: Sequence[MicroBatch],
        before: Before,
        targets: Targets,
        settings: PPOSettings,
        uses_values: bool,
    ) -> Objective:
        """That of all these micro-batches, and of those that other processes have."""
        zero = targets.shares_N.new_zeros(())
        shares = [targets.shares_N[each.tokens_N].sum() for each in minibatch]
        weights = [targets.value_weights_D[each.decisions_M].sum() for each in minibatch]
        all_shares = summed(sum(shares, zero)).clamp(min=_NONE)
        all_weights = summed(sum(weights, zero)).clamp(min=_NONE)
        return cls(settings, before, targets, all_shares, all_weights, uses_values)

    def loss(self, scored: Scored, micro_batch: MicroBatch) -> tuple[Tensor, dict[str, Tensor]]:
        """A micro-batch's share of the loss, and the sums that are told of it."""
        tokens_N, decisions_M = micro_batch.tokens_N, micro_batch.decisions_M
        weights_N = self.targets.weights_N[tokens_N]
        old_N = self.before.log_probs_N[tokens_N]
        surrogate = clipped_surrogate(
            scored.log_probs, old_N, self.targets.advantages_N[tokens_N], self.settings.clip
        )
        policy_loss = (weights_N * surrogate.loss).sum() / self.all_shares
        other_loss = (weights_N * self._costs(scored, tokens_N)).sum() / self.all_shares
        value = clipped_value_loss(
            scored.values,
            self.before.values_D[decisions_M],
            self.targets.returns_D[decisions_M],
            self.settings.value_clip,
        )
        value_weights_M = self.targets.value_weights_D[decisions_M]
        value_sum = (value_weights_M * value.loss).sum()
        loss = policy_loss + other_loss
        if self.uses_values:
            loss = loss + self.settings.value_weight * value_sum / self.all_weights
        kept_N = weights_N > 0
        log_probs_N = scored.log_probs.detach()
        ratio_N = (log_probs_N - old_N).exp()
        return loss, {
            "tokens": kept_N.sum(),
            "policy_loss": policy_loss,
            "clipped": (surrogate.is_clipped & kept_N).sum(),
            "kl": masked_sum(kl_estimate(old_N, log_probs_N, "k3"), kept_N),
            "entropy": masked_sum(scored.entropies, kept_N),
            "ratio": masked_sum(ratio_N, kept_N),
            "ratio_squared": masked_sum(ratio_N.square(), kept_N),
            "ratio_error": masked_sum((ratio_N - 1).abs(), kept_N),
            "values": value_weights_M.sum(),
            "value_loss": value_sum,
            "value_clipped": (value_weights_M * value.is_clipped).sum(),
        }

    def _costs(self, scored: Scored, tokens_N: Tensor) -> Tensor:
        """What each token costs beside the surrogate: certainty, and the KL if paid here."""
        settings = self.settings
        costs_N = -settings.entropy_weight * scored.entropies
        if settings.kl_as == "loss":
            reference_N = self.before.reference_N[tokens_N]
            kl_N = kl_estimate(scored.log_probs, reference_N, settings.kl_estimator)
            costs_N = costs_N + settings.kl_weight * kl_N
        return costs_N
