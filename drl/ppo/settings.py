"""How a policy learns: from what it may differ, how decisions are judged, how steps are taken.

Errors name settings as they are called here; `drl.runtime.config` puts the place in a config before
them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from drl.errors import ConfigError
from drl.ppo.layout import Level
from drl.runtime.settings import check_above_zero, check_not_negative, check_positive


@dataclass(frozen=True, kw_only=True)
class CriticSettings:
    """What estimates values.

    `shared` reads them off the policy's last hidden states; `separate` off those of a copy of the
    parameters that learn, over the same frozen ones. The `head` is linear or has one hidden layer;
    its last layer begins at 0, so values do. With `detach` a shared trunk learns nothing from
    errors of values.
    """

    kind: Literal["shared", "separate"]
    head: Literal["linear", "mlp"]
    detach: bool

    def __post_init__(self) -> None:
        """Check the settings against each other."""
        if self.kind == "separate" and self.detach:
            raise ConfigError(
                "detach=true leaves a separate critic only its head to learn; set it to false, or "
                "kind to shared"
            )


@dataclass(frozen=True, kw_only=True)
class PPOSettings:
    """One update: judge the decisions of a batch, then take `epochs` x `minibatches` steps.

    `level` is what a decision is; `gamma` and `lam` count decisions. `baseline` is the critic, the
    leave-one-out mean return of the other dialogues of a group, or none. `whiten` shifts and scales
    the advantages of a batch once. `mean_over` says what the sum over tokens is divided by.

    The KL to the reference, `kl_weight` times, is paid as a reward at the decision that a token
    belongs to, or in the loss by `kl_estimator`. `target_kl` ends an update once the KL from the
    policy that acted is above it (nats a token, k3); None never. `clip` and `value_clip` are PPO's.
    At most `micro_batch_tokens` tokens, padding included, are computed at once (at least one
    sequence): it changes memory and time, not the result.
    """

    level: Level
    gamma: float
    lam: float
    baseline: Literal["critic", "group", "none"]
    whiten: bool
    mean_over: Literal["token", "turn", "dialogue"]
    epochs: int
    minibatches: int
    micro_batch_tokens: int
    clip: float
    value_clip: float | None
    value_weight: float
    entropy_weight: float
    kl_weight: float
    kl_as: Literal["reward", "loss"]
    kl_estimator: Literal["k1", "k2", "k3"]
    target_kl: float | None
    optimizer: Literal["adamw", "sgd"]
    learning_rate: float
    value_learning_rate: float
    weight_decay: float
    max_grad_norm: float

    def __post_init__(self) -> None:
        """Check the settings."""
        check_positive(
            None,
            epochs=self.epochs,
            minibatches=self.minibatches,
            micro_batch_tokens=self.micro_batch_tokens,
        )
        for name, share in (("gamma", self.gamma), ("lam", self.lam)):
            if not 0.0 <= share <= 1.0:
                raise ConfigError(f"{name}={share} must lie in [0, 1]; use 1")
        check_above_zero(
            None,
            clip=self.clip,
            value_clip=self.value_clip,
            target_kl=self.target_kl,
            learning_rate=self.learning_rate,
            value_learning_rate=self.value_learning_rate,
            max_grad_norm=self.max_grad_norm,
        )
        check_not_negative(
            None,
            value_weight=self.value_weight,
            entropy_weight=self.entropy_weight,
            kl_weight=self.kl_weight,
            weight_decay=self.weight_decay,
        )
        if self.baseline == "group" and self.level != "dialogue":
            raise ConfigError(
                f"baseline=group compares whole dialogues, but level is {self.level}; set "
                "level=dialogue, or baseline=critic"
            )
