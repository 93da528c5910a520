"""PPO over decisions that are tokens, turns or dialogues.

Source: Schulman et al. 2017 (arXiv:1707.06347). What differs from the usual code for language
models: values belong to decisions, advantages are whitened once for a batch, sums are divided by
the count of a whole minibatch whatever it is computed in, and likelihoods of the policy that acted
are computed by the same pass that learns, not taken from a sampler.

Axes: N tokens, D decisions, M those of a micro-batch, B trajectories.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Sequence

import torch
from torch import nn

from drl.errors import ConfigError, RunError
from drl.ppo.advantages import EQUAL, judge, whiten_used
from drl.ppo.batches import MicroBatch, micro_batches
from drl.ppo.before import Before, describe, score_before
from drl.ppo.judged import Judged
from drl.ppo.layout import TokenSequence, lay_out
from drl.ppo.objective import Objective
from drl.ppo.policy import Policy
from drl.ppo.processes import summed
from drl.ppo.settings import PPOSettings
from drl.ppo.targets import Targets, aim
from drl.ppo.told import Sums, Tally
from drl.ppo.trajectory import Trajectory, group_numbers
from drl.runtime.seeds import derive

MAX_BAD_STEPS = 3
"""Steps in a row whose gradients are no numbers, before learning gives up."""

_LOG = logging.getLogger(__name__)


class PPOLearner:
    """Learns from batches of trajectories; with several processes, each from its own.

    Args:
        policy: what learns.
        settings: how.
        seed: of the order of sequences.

    Raises:
        ConfigError: values are asked for, but the policy has no critic.
    """

    def __init__(self, policy: Policy, settings: PPOSettings, seed: int) -> None:
        if settings.baseline == "critic" and not policy.has_critic:
            raise ConfigError(
                "baseline=critic, but the policy has no critic; give it one, or use baseline=group "
                "or none"
            )
        self.policy = policy
        self.settings = settings
        self.num_updates = 0
        self.num_bad_steps = 0
        self._seed = seed
        self.optimizer = _optimizer(policy, settings)

    def update(self, trajectories: Sequence[Trajectory]) -> dict[str, float]:
        """Learn from a batch; what it was like and what came of it, as named numbers.

        Raises:
            ValueError: there is no trajectory.
            DataError: nothing can be learned from one of them, by its tokens or its rewards.
            RunError: gradients are no numbers, again and again.
        """
        if not trajectories:
            raise ValueError("there is no trajectory to learn from; collect some first")
        layout = lay_out(trajectories, self.settings.level, _decoder_start(self.policy))
        before = score_before(self.policy, layout, len(trajectories), self._micro_batches)
        judged = judge(layout, before, group_numbers(trajectories), self.settings)
        numbers = describe(trajectories, layout, before, judged, has_critic=self._uses_values)
        is_skipped = self._has_nothing_to_learn(trajectories, judged)
        numbers["skipped"] = float(is_skipped)
        if not is_skipped:
            if self.settings.whiten:
                judged = whiten_used(judged)
            sequences = [s for s in layout.sequences if s.spans or (s.sites and self._uses_values)]
            numbers |= self._learn(sequences, before, aim(layout, judged, self.settings.mean_over))
        self.num_updates += 1
        return numbers

    def _has_nothing_to_learn(self, trajectories: Sequence[Trajectory], judged: Judged) -> bool:
        """Whether nothing in the batch counts, or is better than anything else; said in the log."""
        counted_D = judged.used_D & (judged.weights_D > 0)
        if summed(counted_D.any().float()) == 0:
            _LOG.warning(
                "an update is skipped: its turns have weight 0, or no other dialogue of their "
                "group to be compared with"
            )
            return True
        if self._uses_values:
            totals = [trajectory.total for trajectory in trajectories]
            if max(totals) - min(totals) <= EQUAL:
                _LOG.warning(
                    "all rewards of a batch are equal; the critic learns them, and the policy "
                    "updates all the same"
                )
            return False
        differs = (counted_D & (judged.advantages_D.abs() > EQUAL)).any()
        if summed(differs.float()) > 0:
            return False
        _LOG.warning("all rewards of each group were equal, so there is nothing to learn from them")
        return True

    def _micro_batches(self, sequences: Sequence[TokenSequence]) -> Iterator[MicroBatch]:
        device = self.policy.model.device
        return micro_batches(sequences, self.settings.micro_batch_tokens, device)

    @property
    def _uses_values(self) -> bool:
        return self.policy.has_critic and self.settings.baseline == "critic"

    def _learn(
        self, sequences: Sequence[TokenSequence], before: Before, targets: Targets
    ) -> dict[str, float]:
        """All optimizer steps of an update."""
        tally = Tally()
        for epoch in range(self.settings.epochs):
            for chunk in _split(self._order(len(sequences), epoch), self.settings.minibatches):
                minibatch = list(self._micro_batches([sequences[place] for place in chunk]))
                sums = self._backward(minibatch, before, targets)
                tally.add(sums)
                is_far = sums["kl"] / max(sums["tokens"], 1.0) > (
                    self.settings.target_kl or math.inf
                )
                if is_far:
                    self.optimizer.zero_grad(set_to_none=True)
                    return tally.numbers(stopped_early=True)
                self._step(tally)
        return tally.numbers(stopped_early=False)

    def _order(self, count: int, epoch: int) -> list[int]:
        seed = derive("ppo", self._seed, self.num_updates, epoch)
        generator = torch.Generator().manual_seed(seed)
        return torch.randperm(count, generator=generator).tolist()

    def _backward(
        self, minibatch: Sequence[MicroBatch], before: Before, targets: Targets
    ) -> dict[str, float]:
        """Gradients of one minibatch, as if it were computed in one piece."""
        objective = Objective.of(minibatch, before, targets, self.settings, self._uses_values)
        sums = Sums(self.policy.model.device)
        for each in minibatch:
            loss, told = objective.loss(self.policy(each.batch), each)
            loss.backward()
            sums.add(told)
        return sums.over_processes()

    def _step(self, tally: Tally) -> None:
        """One step of the optimizer, unless the gradients are no numbers.

        Raises:
            RunError: they have been none several times in a row.
        """
        norms = []
        for group in self.optimizer.param_groups:
            for weight in group["params"]:
                gradient = torch.zeros_like(weight) if weight.grad is None else weight.grad
                weight.grad = summed(gradient)
            norms.append(
                nn.utils.clip_grad_norm_(group["params"], self.settings.max_grad_norm).item()
            )
        if all(norm < float("inf") for norm in norms):  # false for NaN
            self.optimizer.step()
            tally.grad_norms.append(norms[0])
            self.num_bad_steps = 0
        else:
            tally.num_skipped += 1
            self.num_bad_steps += 1
            _LOG.warning("gradients are no numbers; the step is left out")
        self.optimizer.zero_grad(set_to_none=True)
        if self.num_bad_steps == MAX_BAD_STEPS:
            raise RunError(
                f"the gradients of {MAX_BAD_STEPS} steps in a row were no numbers; lower the "
                "learning rate, or learn in float32"
            )


def _optimizer(policy: Policy, settings: PPOSettings) -> torch.optim.Optimizer:
    """One group for the policy, and one for what only the critic has."""
    groups = [{"params": list(policy.learning().values()), "lr": settings.learning_rate}]
    if policy.has_critic:
        rate = settings.value_learning_rate
        groups.append({"params": policy.critic_parameters(), "lr": rate})
    kind = torch.optim.AdamW if settings.optimizer == "adamw" else torch.optim.SGD
    return kind(groups, weight_decay=settings.weight_decay)


def _decoder_start(policy: Policy) -> int | None:
    config = policy.model.config
    return config.decoder_start_token_id if config.is_encoder_decoder else None


def _split(order: Sequence[int], count: int) -> Iterator[Sequence[int]]:
    """Nearly equal chunks, always so many, so that all processes take as many steps."""
    for place in range(count):
        yield order[place * len(order) // count : (place + 1) * len(order) // count]
