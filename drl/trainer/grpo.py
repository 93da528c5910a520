"""GRPO online: what dialogues of one task earn is compared, turn by turn, and no critic is needed.

TRL's GRPO (arXiv:2402.03300) takes the steps. What differs: it learns from whole dialogues, what
others wrote is masked; advantages are those of turns, against a mean that leaves the dialogue
itself out; nothing is divided by a deviation. Killed runs go on from the last state.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from drl.errors import ConfigError
from drl.finetune.fit import Remedies, train
from drl.ops.learning_rates import Schedule
from drl.ppo.trajectory import Trajectory
from drl.runtime.metrics import METRICS
from drl.runtime.progress import progress_bar
from drl.runtime.settings import check_above_zero, check_not_negative, check_positive
from drl.trainer._finetune import RESUME
from drl.trainer._online_training import OnlineTrainer, Practice
from drl.trainer.base import chosen

if TYPE_CHECKING:
    from trl.trainer.grpo_config import GRPOConfig

    from drl.trainer._dialogue_grpo import DialogueBatch

_LOG = logging.getLogger(__name__)
_REMEDIES = Remedies(
    memory="raise trainer.grpo.steps_per_generation and "
    "trainer.grpo.gradient_accumulation_steps as much, or set "
    "trainer.grpo.activation_checkpointing=true",
    numbers="lower trainer.grpo.learning_rate, or use llm.dtype=float32",
)


@dataclass(frozen=True, kw_only=True)
class GRPOSettings:
    """One update, under TRL's names.

    The rows of a batch are split into `steps_per_generation` pieces, of which each
    `gradient_accumulation_steps` make one step of the optimizer; `num_iterations` passes are made
    over the batch. Losses are means over all tokens of a batch; those of TRL that are means over
    rows are not offered, since a dialogue may be several rows. `beta` weighs the KL from
    the model as it starts (k3, in the loss).
    """

    num_iterations: int
    steps_per_generation: int
    gradient_accumulation_steps: int
    loss_type: Literal["dapo", "cispo"]
    epsilon: float
    epsilon_high: float | None
    beta: float
    entropy_coef: float
    optimizer: str
    learning_rate: float
    schedule: Schedule
    warmup: float
    weight_decay: float
    max_grad_norm: float
    activation_checkpointing: bool

    def __post_init__(self) -> None:
        """Check the settings."""
        check_positive(
            "trainer.grpo",
            num_iterations=self.num_iterations,
            steps_per_generation=self.steps_per_generation,
            gradient_accumulation_steps=self.gradient_accumulation_steps,
        )
        if self.steps_per_generation % self.gradient_accumulation_steps:
            raise ConfigError(
                f"trainer.grpo.steps_per_generation={self.steps_per_generation} must be a multiple "
                f"of gradient_accumulation_steps={self.gradient_accumulation_steps}, so that steps "
                "end with the batch; set both to one number"
            )
        if self.loss_type == "cispo" and (self.epsilon_high or 0.0) < 1:
            raise ConfigError(
                f"trainer.grpo.epsilon_high={self.epsilon_high} bounds the ratio itself with "
                "loss_type=cispo, and must be at least 1; use 5"
            )
        check_above_zero(
            "trainer.grpo",
            epsilon=self.epsilon,
            epsilon_high=self.epsilon_high,
            learning_rate=self.learning_rate,
            max_grad_norm=self.max_grad_norm,
        )
        check_not_negative(
            "trainer.grpo",
            beta=self.beta,
            entropy_coef=self.entropy_coef,
            warmup=self.warmup,
            weight_decay=self.weight_decay,
        )

    @property
    def steps_per_update(self) -> int:
        """Steps of the optimizer on one batch."""
        return self.num_iterations * self.steps_per_generation // self.gradient_accumulation_steps

    def to_trl(self) -> dict[str, Any]:
        """All of it as TRL's config takes it."""
        return {
            "num_iterations": self.num_iterations,
            "steps_per_generation": self.steps_per_generation,
            "gradient_accumulation_steps": self.gradient_accumulation_steps,
            "loss_type": self.loss_type,
            "epsilon": self.epsilon,
            "epsilon_high": self.epsilon_high,
            "beta": self.beta,
            "entropy_coef": self.entropy_coef,
            "optim": self.optimizer,
            "learning_rate": self.learning_rate,
            "lr_scheduler_type": self.schedule,
            "warmup_steps": self.warmup,
            "weight_decay": self.weight_decay,
            "max_grad_norm": self.max_grad_norm,
            "activation_checkpointing": self.activation_checkpointing,
        }


@dataclass(kw_only=True)
class GRPOTrainer(OnlineTrainer):
    """Learns by GRPO from tasks that are played `trials` times.

    Advantages that the credit gives (`credit=tree`: among siblings of one prefix) are kept; others
    come from `baseline`: what the other dialogues of a task earned in all (`dialogue`), or from
    their turn of the same number on (`turn`). `drl.trainer._turn_advantages` says how.
    """

    curves = ("episode/score", "kl", "entropy", "clip_ratio/region_mean")
    at_end = {"last_kl": "kl", "last_entropy": "entropy"}  # noqa: RUF012 as it is of the class
    trained_tokens = "trained_tokens"

    baseline: Literal["dialogue", "turn"]
    grpo: GRPOSettings

    def learn(self, practice: Practice, *, bar_title: str) -> None:
        """Updates from the last state on; TRL asks for a batch when it wants one."""
        from drl.trainer._dialogue_grpo import DialogueGRPOTrainer

        policy = practice.policy
        trainer = DialogueGRPOTrainer(
            model=policy.model if policy.adapted is None else policy.adapted.model,
            args=self._arguments(practice),
            tokenizer=policy.loaded.tokenizer,
            play=lambda update: self._batch(practice, update),
        )
        with progress_bar(bar_title, self.updates) as bar:
            train(
                trainer,
                resume=practice.folder / RESUME,
                metrics=practice.folder / METRICS,
                tell=lambda progress: bar.reach(progress.update, progress.num_updates),
                steps_per_update=self.grpo.steps_per_update,
                remedies=_REMEDIES,
            )

    def _batch(self, practice: Practice, update: int) -> DialogueBatch:
        """Play an update, and lay out what is to be learned from it."""
        from drl.ppo.layout import lay_out
        from drl.trainer._dialogue_grpo import DialogueBatch
        from drl.trainer._flat_rows import flat_rows
        from drl.trainer._turn_advantages import advantages_of

        played = practice.play(update)
        layout = lay_out(played.trajectories, "turn", decoder_start=None)
        judged = advantages_of(played.trajectories, layout, self.baseline)
        pad_id = practice.policy.loaded.tokenizer.pad_token_id
        rows = flat_rows(
            layout,
            judged,
            pad_id=pad_id if isinstance(pad_id, int) else 0,
            pieces=self.grpo.steps_per_generation,
        )
        if not judged.differ:
            _LOG.warning(
                "update %d is skipped: %s",
                update + 1,
                "all rewards that are compared are equal, so there is nothing to learn from them"
                if judged.used_N.any()
                else "no dialogue has another of its task to compare it with; raise trainer.trials",
            )
        numbers = {
            **played.numbers,
            **_described(played.trajectories),
            "trained_tokens": float(rows.learns_RL.sum()),
            "num_rows": float(len(rows.ids_RL) - rows.num_empty),
            "num_unused_turns": float(judged.num_unused_turns),
            "skipped": float(not judged.differ),
        }
        return DialogueBatch(rows, numbers, is_skipped=not judged.differ)

    def _arguments(self, practice: Practice) -> GRPOConfig:
        """What TRL calls a config."""
        from trl.trainer.grpo_config import GRPOConfig

        from drl.trainer._dialogue_grpo import COMPLETIONS

        grpo = self.grpo
        device = chosen(practice.parts.llm).weights().device
        options: dict[str, Any] = {
            "output_dir": str(practice.folder / RESUME),
            "max_steps": self.updates * grpo.steps_per_update,
            "per_device_train_batch_size": COMPLETIONS,
            "num_generations": COMPLETIONS,
            **grpo.to_trl(),
            "temperature": practice.temperature,
            "disable_dropout": True,  # likelihoods are compared
            "seed": practice.parts.seed % 2**32,  # as numpy has them
            "use_cpu": device == "cpu",
            "bf16": False,  # the weights are in the number format of llm.dtype already
            "logging_steps": grpo.steps_per_update,
            "logging_nan_inf_filter": False,
            "save_strategy": "steps",
            "save_steps": self.save_every * grpo.steps_per_update,
            "save_total_limit": 2,
            "ignore_data_skip": True,  # its prompts say nothing
            "report_to": [],
            "disable_tqdm": True,
            "dataloader_pin_memory": device != "cpu",
        }
        return GRPOConfig(**options)


def _described(trajectories: Sequence[Trajectory]) -> dict[str, float]:
    total = sum(trajectory.total for trajectory in trajectories)
    return {
        "objective/scores": total / len(trajectories),
        "num_trajectories": float(len(trajectories)),
        "num_turns": float(sum(len(trajectory.turns) for trajectory in trajectories)),
    }
