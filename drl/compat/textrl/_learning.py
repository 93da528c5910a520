"""How an agent of TextRL learns, by the names of `agent_ppo`, and the learner that does so."""

from __future__ import annotations

import inspect
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from drl.errors import ConfigError
from drl.ppo.learner import PPOLearner
from drl.ppo.policy import Policy
from drl.ppo.settings import CriticSettings, PPOSettings
from drl.runtime.seeds import derive

if TYPE_CHECKING:
    from transformers import PreTrainedModel

MICRO_BATCH_TOKENS = 4096
"""Tokens that an update computes at once; it changes memory and time, not the result."""

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class PPOKeywords:
    """The keywords of `TextRLActor.agent_ppo`, where they are explained.

    Raises:
        ConfigError: one breaks a rule.
    """

    update_interval: int
    minibatch_size: int
    epochs: int
    lr: float
    gamma: float
    lambd: float
    epsilon: float
    entropy_coef: float
    value_coef: float
    max_grad_norm: float

    def __post_init__(self) -> None:
        """Check the settings by the names that they were given."""
        for names, is_fine, rule in (
            (("update_interval", "minibatch_size", "epochs"), lambda v: v >= 1, "be at least 1"),
            (("lr", "epsilon", "max_grad_norm"), lambda v: v > 0, "be above 0"),
            (("gamma", "lambd"), lambda v: 0 <= v <= 1, "lie in [0, 1]"),
            (("entropy_coef", "value_coef"), lambda v: v >= 0, "not be negative"),
        ):
            for name in names:
                value = vars(self)[name]
                if not is_fine(value):
                    raise ConfigError(f"agent_ppo: {name}={value} must {rule}; leave it out")

    def learner(
        self,
        model: PreTrainedModel,
        optimizer: str | torch.optim.Optimizer,
        temperature: float,
        seed: int,
    ) -> PPOLearner:
        """A learner for the weights of a model that require gradients, with a new critic.

        Raises:
            ConfigError: nothing can learn.
        """
        # the old critic was linear, and saw the trunk without changing it
        critic = CriticSettings(kind="shared", head="linear", detach=True)
        policy = Policy(model, critic, temperature, derive("textrl-critic", seed))
        learner = PPOLearner(policy, self._settings(optimizer), seed)
        if not isinstance(optimizer, str):
            learner.optimizer = _alike(optimizer, policy)
        elif optimizer not in ("sgd", "adamw"):
            _LOG.warning("optimizer=%s is unknown, so it means sgd, as in TextRL", optimizer)
        return learner

    def _settings(self, optimizer: str | torch.optim.Optimizer) -> PPOSettings:
        return PPOSettings(
            level="token",
            gamma=self.gamma,
            lam=self.lambd,
            baseline="critic",
            whiten=True,
            mean_over="token",
            epochs=self.epochs,
            minibatches=1,  # set at each update, by how much is stored
            micro_batch_tokens=MICRO_BATCH_TOKENS,
            clip=self.epsilon,
            value_clip=None,
            value_weight=2 * self.value_coef,  # the learner halves squared errors
            entropy_weight=self.entropy_coef,
            kl_weight=0.0,
            kl_as="reward",
            kl_estimator="k3",
            target_kl=None,
            optimizer="adamw" if optimizer == "adamw" else "sgd",
            learning_rate=self.lr,
            value_learning_rate=self.lr,
            weight_decay=0.0,
            max_grad_norm=self.max_grad_norm,
        )


def _alike(optimizer: torch.optim.Optimizer, policy: Policy) -> torch.optim.Optimizer:
    """One of the same class and settings, for the weights that learn and those of the critic."""
    known = inspect.signature(type(optimizer)).parameters
    options = {name: value for name, value in optimizer.defaults.items() if name in known}
    groups = [
        {"params": list(policy.learning().values())},
        {"params": policy.critic_parameters()},
    ]
    return type(optimizer)(groups, **options)
