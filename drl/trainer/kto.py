"""Kahneman-Tversky optimisation: outputs that were good become likelier, bad ones less likely."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from drl.errors import ConfigError, DataError
from drl.finetune.examples import Example, Lesson
from drl.finetune.kto_batches import batches, mismatched, undesirable_weight
from drl.finetune.learner import Learner
from drl.finetune.processes import num_processes
from drl.miner.base import KTORow, Row
from drl.runtime.seeds import derive
from drl.trainer._finetune import FinetuneTrainer
from drl.types import JSON


@dataclass(kw_only=True)
class KTOTrainer(FinetuneTrainer):
    """KTO (arXiv:2402.01306) on single outputs of the agent, with TRL's KTOTrainer.

    The reference is the model as it starts. Good rows weigh 1; `undesirable_weight: auto` weighs
    bad ones so that the weighted ratio of good to bad lies within [1, 4/3]. With
    `shuffle_labels` good and bad are dealt out anew by the seed: a control, which should not help.
    """

    form = "kto"
    at_end = {"last_margin": "rewards/margins", "last_kl": "kl"}  # noqa: RUF012 as it is of the class

    beta: float
    undesirable_weight: float | Literal["auto"]
    shuffle_labels: bool

    def __post_init__(self) -> None:
        """Check the settings."""
        if self.fit.batch_size < 2:
            raise ConfigError(
                f"trainer.fit.batch_size={self.fit.batch_size} must be at least 2: KTO puts the "
                "output of one row after the prompt of another of its batch; raise it and lower "
                "trainer.fit.accumulation"
            )
        if not self.beta > 0:
            raise ConfigError(f"trainer.beta={self.beta} must be above 0; use 0.1")
        if self.undesirable_weight != "auto" and not self.undesirable_weight > 0:
            raise ConfigError(
                f"trainer.undesirable_weight={self.undesirable_weight} must be above 0; use auto"
            )

    def examples(self, row: Row, learner: Learner, longest: int) -> Iterator[Example | None]:
        """One output after its prompt."""
        assert isinstance(row, KTORow), "claim_rows reads rows of the form"
        step = learner.tokens.step(row.prompt, row.completion, row.tools)
        if len(step) > longest:
            yield None
            return
        yield Example(
            columns={
                "prompt_ids": list(step.prompt_ids),
                "completion_ids": list(step.completion_ids),
                "label": row.label,
            },
            num_tokens=len(step),
            num_trained=len(step.completion_ids),
            task_id=row.origin.task_id,
        )

    def learning(
        self, learner: Learner, examples: Sequence[Example], options: Mapping[str, Any]
    ) -> Lesson:
        """TRL's KTOTrainer on tokens and batches that are ready."""
        from datasets import Dataset
        from trl.trainer.kto_config import KTOConfig

        from drl.finetune.ready import ReadyKTOTrainer

        seed = int(options["seed"])
        labels = [bool(example.columns["label"]) for example in examples]
        if self.shuffle_labels:
            random.Random(derive(seed, "labels")).shuffle(labels)
        order = self._order([example.task_id for example in examples], seed)
        num_good = sum(labels[position] for batch in order for position in batch)
        num_bad = sum(map(len, order)) - num_good
        _check_both(num_good, num_bad)
        weight = self.undesirable_weight
        if weight == "auto":
            weight = undesirable_weight(num_good, num_bad)
        trainer = ReadyKTOTrainer(
            model=learner.model,
            args=KTOConfig(
                # the epochs lie one after the other in the rows, each in batches of its own
                **{**options, "num_train_epochs": 1},
                beta=self.beta,
                desirable_weight=1.0,
                undesirable_weight=weight,
                max_length=None,
                train_sampling_strategy="sequential",
                dataloader_drop_last=True,
            ),
            train_dataset=Dataset.from_list(_rows(examples, labels, order)),
            processing_class=learner.tokenizer,
        )
        ratio = num_good / (weight * num_bad)
        notes = _notes(labels, order) | {"undesirable_weight": weight, "weighted_ratio": ratio}
        return Lesson(trainer, notes)

    def _order(self, tasks: Sequence[str], seed: int) -> list[list[int]]:
        """The batches of all epochs.

        Raises:
            DataError: not one batch can be filled.
        """
        order: list[list[int]] = []
        for epoch in range(math.ceil(self.fit.epochs)):
            made = batches(tasks, self.fit.batch_size, derive(seed, "batches", epoch))
            order += made[: math.ceil(len(made) * min(1.0, self.fit.epochs - epoch))]
        order = order[: len(order) - len(order) % num_processes()]  # each takes one at a time
        if not order:
            lower = "lower it, or " if self.fit.batch_size > 2 else ""
            raise DataError(
                f"{len(tasks)} rows of {len(set(tasks))} tasks fill no batch of "
                f"trainer.fit.batch_size={self.fit.batch_size} different tasks; {lower}learn "
                "from more tasks"
            )
        return order


def _check_both(num_good: int, num_bad: int) -> None:
    if not num_good or not num_bad:
        raise DataError(
            f"there are {num_good} good and {num_bad} bad outputs, and KTO needs both; name "
            "another trainer.source or miner"
        )


def _rows(
    examples: Sequence[Example], labels: Sequence[bool], order: Sequence[Sequence[int]]
) -> list[dict[str, Any]]:
    """The rows of all batches, each with the output of another for the estimate of the KL."""
    return [
        {
            **examples[position].columns,
            "KL_completion_ids": examples[other].columns["completion_ids"],
            "label": labels[position],
        }
        for batch in order
        for position, other in zip(batch, mismatched(batch), strict=True)
    ]


def _notes(labels: Sequence[bool], order: Sequence[Sequence[int]]) -> dict[str, JSON]:
    """How many rows of which kind are in a batch, and how many in none."""
    placed = {position for batch in order for position in batch}
    num_good = sum(labels[position] for position in placed)
    return {
        "positives": num_good,
        "negatives": len(placed) - num_good,
        "without_batch": len(labels) - len(placed),
    }
