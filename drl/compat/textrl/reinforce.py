"""REINFORCE++ on TRL's GRPO trainer: one completion a prompt, compared with the whole batch.

arXiv:2501.03262. With reward r of a completion and k_t = log pi(o_t) - log pi_ref(o_t), token t has

    A_t = r - beta * sum of k_i for i >= t,

and then the mean over all tokens of the batch of samples, on all processes, is taken off, and the
rest divided by their standard deviation. What differs from TRL's GRPO is only this: groups of one,
KL in the reward instead of the loss (and by k1 instead of k3), the whole batch as the
baseline. Ratios are clipped token by token as there. The loss is by default GRPO's of TRL, `dapo`,
the mean over all tokens of the batch, where the paper takes means of completions first; that is
`loss_type=grpo`.

`tests/compat/textrl/test_reinforce.py` holds what is overridden against the TRL that is installed.
Axes: B completions, T tokens of the longest. Imports torch and TRL.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from trl.models.utils import disable_gradient_checkpointing
from trl.trainer.grpo_config import GRPOConfig

from drl.compat.textrl._silent import SilentGRPOTrainer
from drl.errors import ConfigError
from drl.finetune.processes import num_processes

_LEAST_VARIANCE = 1e-8
"""As in OpenRLHF: with rewards all alike nothing is learned, rather than rounding errors."""


@dataclass
class ReinforcePlusPlusConfig(GRPOConfig):
    """TRL's settings for GRPO with groups of one; `beta` weighs the KL in the reward.

    Raises:
        ConfigError: a batch of samples holds one completion, which cannot be compared.
    """

    def __post_init__(self) -> None:
        """Let TRL check a group that is the whole batch: it refuses groups of one."""
        steps = self.steps_per_generation or self.gradient_accumulation_steps
        batch = self.generation_batch_size or (
            self.per_device_train_batch_size * steps * num_processes()
        )
        if batch < 2:
            raise ConfigError(
                "per_device_train_batch_size=1 gives batches of one completion, which "
                "algo=reinforce_pp cannot compare with others; raise it, or "
                "gradient_accumulation_steps"
            )
        self.num_generations, self.num_generations_eval = batch, 1
        super().__post_init__()
        self.num_generations = 1


class ReinforcePlusPlusTrainer(SilentGRPOTrainer):
    """TRL's GRPO trainer with the advantages of REINFORCE++."""

    _name = "REINFORCE++"
    _tag_names = ["trl", "reinforce-plus-plus"]  # noqa: RUF012 as TRL has it

    _rewards_BF: Tensor
    """Of all processes' completions by all reward functions; NaN where one does not apply."""

    def _calculate_rewards(self, *arguments: Any, **named: Any) -> Tensor:
        self._rewards_BF = super()._calculate_rewards(*arguments, **named)
        return self._rewards_BF

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        output = super()._generate_and_score_completions(inputs)
        mask_BT = output["completion_mask"].bool()
        if output.get("tool_mask") is not None:
            mask_BT &= output["tool_mask"].bool()
        first = self.accelerator.process_index * len(inputs)
        rewards_B = weighted(self._rewards_BF, self.reward_weights)[first : first + len(inputs)]
        kl_BT = self._kl(output, mask_BT)
        raw_BT = returns(rewards_B, kl_BT, self.beta)
        mask_BT = mask_BT & raw_BT.isfinite()  # where no reward applied there is none
        output["advantages"] = normalised(raw_BT, mask_BT, self._total(moments(raw_BT, mask_BT)))
        return output

    def _compute_loss(self, model: Any, inputs: dict[str, Any]) -> Tensor:
        """GRPO's loss without its KL, which is in the reward already."""
        beta, self.beta = self.beta, 0.0
        try:
            return super()._compute_loss(model, inputs)
        finally:
            self.beta = beta

    def _kl(self, output: dict[str, Any], mask_BT: Tensor) -> Tensor:
        """k1 of each token, 0 outside the mask; and logged as `kl`."""
        if self.beta == 0.0:
            return torch.zeros_like(mask_BT, dtype=torch.float32)
        old_BT = output.get("old_per_token_logps")
        if old_BT is None:  # TRL leaves it out where it is that of the update itself
            old_BT = self._log_probs(output)
        kl_BT = torch.where(mask_BT, old_BT - output["ref_per_token_logps"], 0.0)
        sums = self._total(torch.stack([kl_BT.sum(), mask_BT.sum().float()]))
        mode = "train" if self._model.training else "eval"
        self._metrics[mode]["kl"].append(float(sums[0] / sums[1].clamp(min=1.0)))
        return kl_BT

    def _log_probs(self, output: dict[str, Any]) -> Tensor:
        ids = torch.cat([output["prompt_ids"], output["completion_ids"]], dim=1)
        attended = torch.cat([output["prompt_mask"], output["completion_mask"]], dim=1)
        size = (
            self.args.per_device_train_batch_size
            if self._model.training
            else self.args.per_device_eval_batch_size
        )
        settings: Any = self.args.gradient_checkpointing_kwargs
        with torch.no_grad(), disable_gradient_checkpointing(self._model, settings):
            log_probs_BT, _, _ = self._get_per_token_logps_and_entropies(
                self._model, ids, attended, output["completion_ids"].size(1), size
            )
        return log_probs_BT

    @property
    def _model(self) -> Any:
        return self.model

    def _total(self, numbers: Tensor) -> Tensor:
        """The sum over all processes."""
        summed = self.accelerator.reduce(numbers, reduction="sum")
        assert isinstance(summed, Tensor), "it was one tensor"
        return summed


def weighted(rewards_BF: Tensor, weights_F: Tensor) -> Tensor:
    """Float `[B]`: the weighted sum of rewards; NaN where none applies.

    Args:
        rewards_BF: float `[B, F]` by function, NaN where it does not apply.
        weights_F: float `[F]`.
    """
    sums_B = (rewards_BF * weights_F.to(rewards_BF.device)).nansum(dim=1)
    return sums_B.masked_fill(rewards_BF.isnan().all(dim=1), torch.nan)


def returns(rewards_B: Tensor, kl_BT: Tensor, beta: float) -> Tensor:
    """Float `[B, T]`: reward less the weighted KL of this token and those after it.

    Args:
        rewards_B: float `[B]`.
        kl_BT: float `[B, T]` in nats, 0 where tokens do not count.
        beta: weight of the KL.
    """
    to_come_BT = kl_BT.flip(1).cumsum(1).flip(1)
    return rewards_B.unsqueeze(1) - beta * to_come_BT


def moments(raw_BT: Tensor, mask_BT: Tensor) -> Tensor:
    """Double `[3]`: the number of tokens that count, the sum of their values and of the squares."""
    values = raw_BT[mask_BT].double()
    number = torch.tensor(float(values.numel()), dtype=torch.float64, device=raw_BT.device)
    return torch.stack([number, values.sum(), values.square().sum()])


def normalised(raw_BT: Tensor, mask_BT: Tensor, sums: Tensor) -> Tensor:
    """Float `[B, T]`: values with mean 0 and variance 1 over the tokens that count; else 0.

    Args:
        raw_BT: float `[B, T]`.
        mask_BT: bool `[B, T]`, True where a token counts.
        sums: the moments of all processes.
    """
    number = sums[0].clamp(min=1.0)
    mean = sums[1] / number
    variance = (sums[2] / number - mean.square()).clamp(min=_LEAST_VARIANCE)
    standard_BT = ((raw_BT.double() - mean) * variance.rsqrt()).to(raw_BT.dtype)
    return torch.where(mask_BT, standard_BT, 0.0)
