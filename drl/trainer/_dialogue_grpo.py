"""TRL's GRPO on dialogues that were played elsewhere, with an advantage for every token.

One method of TRL is replaced: what makes a batch. TRL asks for one by so many prompts with so many
completions each, and takes it apart by rows; how many rows came of them it never asks. So it is
given prompts that say nothing, and gets the rows of all dialogues of an update. TRL does the rest:
pieces, passes, the loss, steps, states.
`tests/trainer/test_grpo_contract.py` holds what is relied on against the TRL that is installed.

Axes: R rows, L places, T places after those that all rows have read. Imports torch and TRL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from datasets import Dataset
from torch import Tensor
from transformers import TrainerCallback
from trl.models.utils import disable_gradient_checkpointing
from trl.trainer.grpo_config import GRPOConfig
from trl.trainer.grpo_trainer import GRPOTrainer
from trl.trainer.utils import use_adapter

from drl.finetune.ready import WarmedUp
from drl.runtime.seeds import derive
from drl.trainer._flat_rows import FlatRows

COMPLETIONS = 2
"""Of a prompt that says nothing: the fewest that TRL takes for a group."""


@dataclass(frozen=True, slots=True)
class DialogueBatch:
    """The rows of an update, and what is told of them; if it is skipped, it changes no weight."""

    rows: FlatRows
    numbers: dict[str, float]
    is_skipped: bool


class DialogueGRPOTrainer(WarmedUp, GRPOTrainer):
    """Learns from what `play(update)` gives.

    Args:
        model: with its adapter, if it has one.
        args: with batches of `COMPLETIONS` completions of each prompt.
        tokenizer: the model's.
        play: gives the batch of an update, from 0 on; it may use the model.
    """

    def __init__(
        self, model: Any, args: GRPOConfig, tokenizer: Any, play: Callable[[int], DialogueBatch]
    ) -> None:
        pieces = args.steps_per_generation
        assert isinstance(pieces, int), "the config has settled it"
        super().__init__(
            model=model,
            reward_funcs=_paid_while_playing,
            args=args,
            train_dataset=Dataset.from_dict({"prompt": [""] * pieces}),  # an epoch is an update
            processing_class=tokenizer,
        )
        self._steps_per_update = pieces * args.num_iterations // args.gradient_accumulation_steps
        self._pieces = pieces
        self._play = play
        self._batch: DialogueBatch | None = None
        self.add_callback(_skipper(self))

    @property
    def skips(self) -> bool:
        """Whether the update that it is in is to change nothing."""
        return self._batch is not None and self._batch.is_skipped

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        """What TRL tells, and what is told of the dialogues."""
        told = {} if self._batch is None else self._batch.numbers
        super().log({**logs, **told}, start_time)

    def _send_telemetry(self) -> None:
        pass

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        update = self.state.global_step // self._steps_per_update
        self._batch = self._play(update)
        rows = _on(self.accelerator.device, self._batch.rows)
        later = slice(rows.num_read, None)
        learns_RT = rows.learns_RL[:, later]
        old_RT = self._log_probs(self.model, rows)
        gaps = (rows.log_probs_RL[:, later] - old_RT)[learns_RT].abs()
        self._batch.numbers["sampler/log_prob_gap"] = gaps.mean().item() if len(gaps) else 0.0
        batch = {
            "prompt_ids": rows.ids_RL[:, : rows.num_read],
            "prompt_mask": rows.is_real_RL[:, : rows.num_read].long(),
            "completion_ids": rows.ids_RL[:, later],
            "completion_mask": rows.is_real_RL[:, later].long(),
            "tool_mask": learns_RT.long(),
            "advantages": rows.advantages_RL[:, later],
            "num_items_in_batch": learns_RT.sum(),
            "old_per_token_logps": old_RT,
        }
        if self.beta != 0.0:
            with self._as_at_start() as reference:
                batch["ref_per_token_logps"] = self._log_probs(reference, rows)
        # TRL shuffles the rows by the generator of all: what others drew from it must not count
        torch.manual_seed(derive("order of rows", self.args.seed, update))
        return batch

    def _log_probs(self, model: Any, rows: FlatRows) -> Tensor:
        """Of all that comes after what every row has read, float [R, T]."""
        own: Any = self.model
        settings: Any = self.args.gradient_checkpointing_kwargs
        with torch.no_grad(), disable_gradient_checkpointing(own, settings):
            log_probs_RT, _, _ = self._get_per_token_logps_and_entropies(
                model,
                rows.ids_RL,
                rows.is_real_RL.long(),
                rows.ids_RL.size(1) - rows.num_read,
                batch_size=len(rows.ids_RL) // self._pieces,
            )
        return log_probs_RT

    @contextmanager
    def _as_at_start(self) -> Iterator[Any]:
        """The reference: what the model was before the first update, as TRL keeps it."""
        if self.ref_model is not None:
            yield self.ref_model
            return
        adapted: Any = self.accelerator.unwrap_model(self.model)
        with use_adapter(adapted, "ref"):  # the copy of the adapter that TRL made
            yield self.model


def _on(device: torch.device, rows: FlatRows) -> FlatRows:
    return FlatRows._make(each.to(device) if isinstance(each, Tensor) else each for each in rows)


def _skipper(trainer: DialogueGRPOTrainer) -> TrainerCallback:
    """Takes away the gradients of updates that are skipped: zeros would still move the weights."""

    class Skipper(TrainerCallback):
        def on_pre_optimizer_step(self, args, state, control, model=None, **kwargs):
            assert model is not None, "a trainer has one"
            if trainer.skips:
                model.zero_grad(set_to_none=True)

    return Skipper()


def _paid_while_playing(**columns: Any) -> list[float | None]:
    raise AssertionError("TRL wants a reward, but is never to ask for one")
