"""TRL's trainers for rows that are tokens already, so that TRL makes none of its own.

TRL would tokenise prompts and outputs itself, train on what templates write after the end of a
reply, and cut what is too long; and it would tell its makers that it is used.
`tests/finetune/test_ready.py` holds what is replaced here against the TRL that is installed.
Imports torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, cast

import torch
from datasets import Dataset, IterableDataset
from torch.optim.lr_scheduler import LambdaLR
from transformers import Trainer
from transformers.trainer_utils import SchedulerType
from trl.trainer.dpo_trainer import DataCollatorForPreference, DPOTrainer
from trl.trainer.kto_trainer import KTOTrainer
from trl.trainer.sft_trainer import SFTTrainer

from drl.ops.learning_rates import Schedule, share_of_rate

WEIGHT = "weight"
Rows = Dataset | IterableDataset


class WarmedUp(Trainer):
    """Learning rates of `drl.ops.learning_rates`, of which none is 0."""

    def create_scheduler(
        self, num_training_steps: int, optimizer: torch.optim.Optimizer | None = None
    ) -> LambdaLR:
        """What sets the learning rate of each step; made once."""
        if self.lr_scheduler is None:
            given = self.optimizer if optimizer is None else optimizer
            share = partial(
                share_of_rate,
                schedule=cast(Schedule, SchedulerType(self.args.lr_scheduler_type).value),
                num_warmup=self.args.get_warmup_steps(num_training_steps),
                num_steps=num_training_steps,
            )
            self.lr_scheduler = LambdaLR(cast(torch.optim.Optimizer, given), share)
            self._created_lr_scheduler = True
        return self.lr_scheduler


class ReadySFTTrainer(WarmedUp, SFTTrainer):
    """Columns: input_ids, labels."""

    def _send_telemetry(self) -> None:
        pass


class ReadyKTOTrainer(WarmedUp, KTOTrainer):
    """Columns: prompt_ids, completion_ids, KL_completion_ids, label; batches in the given order."""

    def _send_telemetry(self) -> None:
        pass

    def _prepare_dataset(self, dataset: Rows, *unused: object, **also: object) -> Rows:
        return dataset


class WeightedCollator(DataCollatorForPreference):
    """Keeps the weights of pairs."""

    def torch_call(self, examples: list[dict[str, Any]]) -> dict[str, Any]:
        """A batch: chosen sequences, then rejected ones."""
        weights = torch.tensor([example[WEIGHT] for example in examples])
        return {**super().torch_call(examples), WEIGHT: weights}


class ReadyDPOTrainer(WarmedUp, DPOTrainer):
    """Columns: prompt_ids, chosen_ids, rejected_ids, weight; the loss of a pair has its weight."""

    def __init__(self, *unnamed: Any, **named: Any) -> None:
        super().__init__(*unnamed, **named)
        assert isinstance(self.train_dataset, Dataset), "its rows are in memory"
        # asked of all rows, so that several processes never part ways at means they take together
        self._is_weighted = any(weight != 1 for weight in self.train_dataset[WEIGHT])

    def _send_telemetry(self) -> None:
        pass

    def _prepare_dataset(self, dataset: Rows, *unused: object, **also: object) -> Rows:
        return dataset

    def _set_signature_columns_if_needed(self) -> None:
        super()._set_signature_columns_if_needed()
        if WEIGHT not in self._signature_columns:
            self._signature_columns.append(WEIGHT)

    def _compute_loss(
        self, model: torch.nn.Module, inputs: Mapping[str, Any], return_outputs: bool
    ) -> Any:
        batch = dict(inputs)
        weights = batch.pop(WEIGHT)
        if return_outputs or not self._is_weighted:
            return super()._compute_loss(model, batch, return_outputs)
        # TRL gives the mean over a batch only, so weighted pairs go one at a time
        loss = torch.zeros((), device=weights.device)
        for place, weight in enumerate(weights):
            pair = [place, place + len(weights)]
            one = {key: value[pair] for key, value in batch.items()}
            loss = loss + weight * super()._compute_loss(model, one, False)
        return loss / len(weights)
