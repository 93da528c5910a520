"""Supervised fine-tuning: dialogues are learned by heart, but only what the agent said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drl.finetune.examples import Example, Lesson
from drl.finetune.learner import Learner
from drl.miner.base import Row, SFTRow
from drl.trainer._finetune import FinetuneTrainer

_NOT_TRAINED = -100
"""The label of tokens without loss, as torch's cross entropy has it."""


@dataclass(kw_only=True)
class SFTTrainer(FinetuneTrainer):
    """Minimises the negative log-likelihood of the agent's tokens, with TRL's SFTTrainer."""

    form = "sft"

    def examples(self, row: Row, learner: Learner, longest: int) -> Iterator[Example | None]:
        """A dialogue as one sequence, or several where the template rewrites earlier turns."""
        assert isinstance(row, SFTRow), "claim_rows reads rows of the form"
        for sequence in learner.tokens.dialogue(row.messages, row.trained, row.tools):
            fitting = sequence if len(sequence) <= longest else None
            if fitting is None and self.data.too_long == "cut":
                fitting = sequence.cut(longest)
            if fitting is None:
                yield None
                continue
            pairs = zip(fitting.ids, fitting.is_trained, strict=True)
            labels = [token if is_trained else _NOT_TRAINED for token, is_trained in pairs]
            yield Example(
                columns={"input_ids": list(fitting.ids), "labels": labels},
                num_tokens=len(fitting),
                num_trained=sum(fitting.is_trained),
                was_cut=len(fitting) < len(sequence),
                task_id=row.origin.task_id,
            )

    def learning(
        self, learner: Learner, examples: Sequence[Example], options: Mapping[str, Any]
    ) -> Lesson:
        """TRL's SFTTrainer on tokens that are ready."""
        from datasets import Dataset
        from trl.trainer.sft_config import SFTConfig

        from drl.finetune.ready import ReadySFTTrainer

        rows = Dataset.from_list([dict(example.columns) for example in examples])
        trainer = ReadySFTTrainer(
            model=learner.model,
            args=SFTConfig(**options, max_length=None, packing=False),
            train_dataset=rows,
            processing_class=learner.tokenizer,
        )
        return Lesson(trainer)
