"""TextRL 1.0's one configuration for all algorithms, made into that of TRL's trainer for each.

What 1.0 dropped in silence is an error here: a key that neither it nor TRL knows, a setting that
the algorithm does not have, and `distributed`, which nothing ever read. `rollout` is obeyed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from difflib import get_close_matches
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal

from drl.compat.textrl.rollout import rollout_settings
from drl.errors import ConfigError
from drl.finetune.processes import num_processes

if TYPE_CHECKING:
    from transformers import TrainingArguments

ONLINE = ("grpo", "rloo", "reinforce_pp")
"""Algorithms that sample from the model while they train it."""

DPO_LOSSES: Mapping[str, str] = {
    "dpo": "sigmoid",
    "ipo": "ipo",
    "hinge": "hinge",
    "apo_zero": "apo_zero",
    "apo_down": "apo_down",
    "bco_pair": "bco_pair",
    "nca_pair": "nca_pair",
    "robust": "robust",
    "aot": "aot",
    "aot_unpaired": "aot_unpaired",
    "discopop": "discopop",
    "sppo_hard": "sppo_hard",
    "exo_pair": "exo_pair",
    "sft_on_dpo": "sft",
}
"""Algorithms on pairs, and the loss of TRL's DPOTrainer that each of them is."""

ALGORITHMS = (*ONLINE, *DPO_LOSSES, "kto", "reward_model")

_SUBSTITUTES: Mapping[str, str] = {
    "ppo": "use drl.compat.textrl.TextRLActor, or trainer=ppo of drl, which has its own PPO",
    "online_dpo": "use algo=rloo or algo=grpo with a reward",
    "orpo": "use algo=dpo with loss_type=[sigmoid, sft], or algo=apo_zero",
    "cpo": "use algo=dpo, or with loss_type=[sigmoid, sft] for its term of likelihood",
    "simpo": "use algo=dpo with loss_type=sigmoid_norm",
    "bco": "use algo=bco_pair on pairs, or algo=kto on single labelled completions",
}
_NUMBERS = ("learning_rate", "num_train_epochs", "beta")
_COUNTS = (
    "per_device_train_batch_size",
    "per_device_eval_batch_size",
    "gradient_accumulation_steps",
)
_LOADING = ("peft", "quantization")
_OF_OURS = ("algo", *_LOADING, "rollout", "distributed", "extra")
_RENAMED = {
    "gradient_checkpointing": "activation_checkpointing",
    "gradient_checkpointing_kwargs": "activation_checkpointing_kwargs",
}
_NOT_OF_REINFORCE = ("scale_rewards", "multi_objective_aggregation", "num_generations_eval")
"""Settings of GRPO's groups, which REINFORCE++ does not have."""


def _takes_settings_of_trl(cls: type[TextRLConfig]) -> type[TextRLConfig]:
    """Let keywords that the class does not name, as people know them from TRL, go into `extra`."""
    make = cls.__init__
    names = {each.name for each in fields(cls)}

    @wraps(make)
    def init(self: TextRLConfig, *settings: Any, **named: Any) -> None:
        more = {name: named.pop(name) for name in named.keys() - names}
        if more:
            named["extra"] = {**(named.get("extra") or {}), **more}
        make(self, *settings, **named)

    cls.__init__ = init
    return cls


@_takes_settings_of_trl
@dataclass
class TextRLConfig:
    """How to train: an algorithm, where to write, and settings with TRL's names.

    Settings that are None are left to TRL. `peft` and `quantization` are read by
    `drl textrl-train`, which gives them to `load_model`. `extra` holds any more settings of TRL's
    config of the algorithm, which may be keywords as well. `rollout` says what samples:
    `{"backend": "hf"}`, or `{"backend": "vllm"}` with the keywords of `vllm_config`.

    GRPO and RLOO need batches of whole groups: where `num_generations` does not divide what one
    update takes, several updates share one batch of samples.

    Raises:
        ConfigError: a setting breaks a rule; in time before TRL is asked to train.
    """

    algo: str
    output_dir: str
    learning_rate: float = 1e-5
    per_device_train_batch_size: int = 4
    per_device_eval_batch_size: int = 4
    gradient_accumulation_steps: int = 1
    num_train_epochs: float = 1.0
    max_steps: int = -1
    logging_steps: int = 10
    save_steps: int = 500
    seed: int = 42
    bf16: bool = False
    fp16: bool = False
    report_to: list[str] | str = "none"
    beta: float | None = None
    loss_type: str | list[str] | None = None
    num_generations: int | None = None
    peft: dict[str, Any] | None = None
    quantization: Literal["4bit", "8bit"] | None = None
    rollout: dict[str, Any] | None = None
    distributed: dict[str, Any] | None = None
    reward_weights: list[float] | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check what can be checked without TRL; with `extra` or `rollout`, ask TRL for names."""
        _check_algorithm(self.algo)
        self._read_numbers()
        if self.quantization not in (None, "4bit", "8bit"):
            raise ConfigError(f"quantization={self.quantization} must be 4bit, 8bit or null")
        if self.distributed is not None:
            raise ConfigError(
                f"distributed={self.distributed} is for the launcher to say; leave it out and "
                "start the program with accelerate launch (say --use_deepspeed --zero_stage 3)"
            )
        self._check_algorithm_has()
        twice = sorted({each.name for each in fields(self)} & self.extra.keys())
        if twice:
            raise ConfigError(f"extra.{twice[0]} is a setting itself; write it as {twice[0]}")
        if self._more():
            self._check_known(self._more())

    def to_trl_config(self) -> TrainingArguments:
        """The configuration of TRL's trainer for this algorithm.

        Raises:
            ConfigError: TRL's has no such setting, or refuses a value.
        """
        settings = self._settings()
        self._check_known(settings)
        try:
            return self._trl_class()(**settings)
        except (ValueError, TypeError) as error:
            cause = " ".join(str(error).split())
            raise ConfigError(f"algo={self.algo}: TRL refuses its settings: {cause}") from error

    def to_dict(self) -> dict[str, Any]:
        """All settings as plain values, for `from_dict`."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> TextRLConfig:
        """A configuration from plain values; settings of TRL's may lie among ours, or in `extra`.

        Raises:
            ConfigError: algo or output_dir is missing, or a key is neither ours nor TRL's.
        """
        missing = [name for name in ("algo", "output_dir") if name not in data]
        if missing:
            raise ConfigError(f"{missing[0]} is missing; name it, say {missing[0]}=...")
        return cls(**data)

    def _read_numbers(self) -> None:
        """YAML reads 5e-6 as a text; counts must be such."""
        for name in _NUMBERS:
            value = getattr(self, name)
            if isinstance(value, str):
                try:
                    setattr(self, name, float(value))
                except ValueError as error:
                    raise ConfigError(f"{name}={value} must be a number, say 1e-5") from error
        for name in _COUNTS:
            value = getattr(self, name)
            if not isinstance(value, int) or value < 1:
                raise ConfigError(f"{name}={value} must be a whole number of at least 1")

    def _check_algorithm_has(self) -> None:
        """Refuse what an algorithm of TRL's class would obey, but this one has no use for."""
        if self.algo in DPO_LOSSES and self.algo != "dpo" and self.loss_type is not None:
            raise ConfigError(
                f"loss_type={self.loss_type} together with algo={self.algo}, which is a loss; "
                "leave it out, or use algo=dpo"
            )
        if self.algo != "reinforce_pp":
            return
        if self.num_generations not in (None, 1):
            raise ConfigError(
                f"num_generations={self.num_generations} must be 1 for algo=reinforce_pp, which "
                "compares with the whole batch; leave it out, or use algo=rloo"
            )
        unused = [name for name in _NOT_OF_REINFORCE if name in self.extra]
        if unused:
            raise ConfigError(
                f"extra.{unused[0]} is about groups, which algo=reinforce_pp does not have; "
                "leave it out, or use algo=grpo"
            )

    def _more(self) -> dict[str, Any]:
        """Settings of TRL that this class does not name."""
        return {**rollout_settings(self.rollout), **self.extra}

    def _settings(self) -> dict[str, Any]:
        """All settings under TRL's names."""
        own = {each.name: vars(self)[each.name] for each in fields(self)}
        settings = {
            name: value for name, value in own.items() if name not in _OF_OURS and value is not None
        }
        if self.algo in DPO_LOSSES and self.loss_type is None:
            settings["loss_type"] = DPO_LOSSES[self.algo]
        if self.algo == "reinforce_pp":
            settings.pop("num_generations", None)
        # TRL's default under the name that transformers does not warn of
        settings["activation_checkpointing"] = True
        settings |= {_RENAMED.get(name, name): value for name, value in self._more().items()}
        if self.algo in ("grpo", "rloo"):
            settings |= self._whole_groups(settings)
        return settings

    def _whole_groups(self, settings: Mapping[str, Any]) -> dict[str, int]:
        """A size for batches of samples that holds whole groups, where TRL's own would not."""
        if "generation_batch_size" in settings or "steps_per_generation" in settings:
            return {}
        default = next(
            each.default for each in fields(self._trl_class()) if each.name == "num_generations"
        )
        group = settings.get("num_generations", default)
        an_update = (
            self.per_device_train_batch_size * self.gradient_accumulation_steps * num_processes()
        )
        return (
            {} if an_update % group == 0 else {"generation_batch_size": math.lcm(an_update, group)}
        )

    def _check_known(self, settings: Mapping[str, Any]) -> None:
        known = {each.name for each in fields(self._trl_class()) if each.init}
        for name in sorted(settings.keys() - known):
            near = get_close_matches(name, [*known, *(each.name for each in fields(self))])
            meant = f"did you mean {' or '.join(near)}?" if near else "leave it out"
            raise ConfigError(
                f"{name} is no setting of algo={self.algo}, nor of TRL's "
                f"{self._trl_class().__name__}; {meant}"
            )

    def _trl_class(self) -> type[Any]:
        """TRL's class of settings; each comes with an import of its own."""
        if self.algo == "reinforce_pp":
            from drl.compat.textrl.reinforce import ReinforcePlusPlusConfig as Settings
        elif self.algo == "grpo":
            from trl.trainer.grpo_config import GRPOConfig as Settings
        elif self.algo == "rloo":
            from trl.trainer.rloo_config import RLOOConfig as Settings
        elif self.algo == "kto":
            from trl.trainer.kto_config import KTOConfig as Settings
        elif self.algo == "reward_model":
            from trl.trainer.reward_config import RewardConfig as Settings
        else:
            from trl.trainer.dpo_config import DPOConfig as Settings
        return Settings


def _check_algorithm(name: str) -> None:
    if name in _SUBSTITUTES:
        raise ConfigError(f"algo={name} is not in TRL any more; {_SUBSTITUTES[name]}")
    if name not in ALGORITHMS:
        near = get_close_matches(name, ALGORITHMS, n=1)
        meant = f"did you mean {near[0]}? There are" if near else "there are"
        raise ConfigError(f"algo={name} is unknown; {meant} {', '.join(ALGORITHMS)}")
