"""Direct preference optimisation: of two outputs after one prompt, the better becomes likelier."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drl.errors import ConfigError
from drl.finetune.examples import Example, Lesson
from drl.finetune.learner import Learner
from drl.miner.base import DPORow, Row
from drl.trainer._finetune import FinetuneTrainer


@dataclass(kw_only=True)
class DPOTrainer(FinetuneTrainer):
    """DPO (arXiv:2305.18290) on pairs of single outputs, with TRL's DPOTrainer.

    The reference is the model as it starts. `sft_weight` adds the negative log-likelihood of the
    chosen output (arXiv:2404.19733), since DPO alone may make both less likely; `logps/chosen` in
    the metrics shows whether it does. The weights of rows multiply the loss. `label_smoothing` is
    corrected for without bias (arXiv:2403.00409).
    """

    form = "dpo"
    at_end = {  # noqa: RUF012 as it is of the class
        "last_accuracy": "rewards/accuracies",
        "last_margin": "rewards/margins",
        "last_log_prob_of_chosen": "logps/chosen",
    }

    beta: float
    sft_weight: float
    label_smoothing: float

    def __post_init__(self) -> None:
        """Check the settings."""
        if not self.beta > 0:
            raise ConfigError(f"trainer.beta={self.beta} must be above 0; use 0.1")
        if not self.sft_weight >= 0:
            raise ConfigError(
                f"trainer.sft_weight={self.sft_weight} must not be negative; 0 leaves it out"
            )
        if not 0.0 <= self.label_smoothing < 0.5:
            raise ConfigError(
                f"trainer.label_smoothing={self.label_smoothing} must lie in [0, 0.5); use 0"
            )

    def examples(self, row: Row, learner: Learner, longest: int) -> Iterator[Example | None]:
        """Two outputs after their prompt; too long if one of them is."""
        assert isinstance(row, DPORow), "claim_rows reads rows of the form"
        better = learner.tokens.step(row.prompt, row.chosen, row.tools)
        worse = learner.tokens.step(row.prompt, row.rejected, row.tools)
        if max(len(better), len(worse)) > longest:
            yield None
            return
        yield Example(
            columns={
                "prompt_ids": list(better.prompt_ids),
                "chosen_ids": list(better.completion_ids),
                "rejected_ids": list(worse.completion_ids),
                "weight": row.weight,
            },
            num_tokens=len(better) + len(worse),
            num_trained=len(better.completion_ids) + len(worse.completion_ids),
            task_id=row.origin.task_id,
        )

    def learning(
        self, learner: Learner, examples: Sequence[Example], options: Mapping[str, Any]
    ) -> Lesson:
        """TRL's DPOTrainer on tokens that are ready."""
        from datasets import Dataset
        from trl.trainer.dpo_config import DPOConfig

        from drl.finetune.ready import ReadyDPOTrainer, WeightedCollator

        preference = "robust" if self.label_smoothing else "sigmoid"  # this one has no smoothing
        losses = {preference: 1.0} | ({"sft": self.sft_weight} if self.sft_weight else {})
        pad_id = learner.tokenizer.pad_token_id
        trainer = ReadyDPOTrainer(
            model=learner.model,
            args=DPOConfig(
                **options,
                beta=self.beta,
                label_smoothing=self.label_smoothing,
                loss_type=list(losses),
                loss_weights=list(losses.values()),
                max_length=None,
            ),
            train_dataset=Dataset.from_list([dict(example.columns) for example in examples]),
            data_collator=WeightedCollator(pad_token_id=pad_id if isinstance(pad_id, int) else 0),
            processing_class=learner.tokenizer,
        )
        return Lesson(trainer, {"pairs": len(examples), "sft_weight_in_loss": self.sft_weight})
