"""Rows as what a trainer of TRL reads, with an account of those that are not among them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from drl.errors import DataError
from drl.finetune.settings import DataSettings
from drl.miner.base import Row
from drl.runtime.seeds import derive
from drl.types import JSON

if TYPE_CHECKING:
    import transformers


@dataclass(frozen=True, slots=True)
class Example:
    """The columns of one row, the tokens in them, those with a loss, and the row's task."""

    columns: Mapping[str, Any]
    num_tokens: int
    num_trained: int
    task_id: str
    was_cut: bool = False


@dataclass(frozen=True, slots=True)
class Lesson:
    """A trainer of TRL that is ready, and what is to be known of it."""

    trainer: transformers.Trainer
    notes: Mapping[str, JSON] = field(default_factory=dict)


@dataclass(slots=True)
class Drawn:
    """The examples of a training in the order of the draw. Nothing is left out without a count."""

    examples: list[Example] = field(default_factory=list)
    num_rows: int = 0
    num_too_long: int = 0
    num_left_out: int = 0
    """By max_rows or max_tokens."""

    def to_json(self) -> dict[str, JSON]:
        """The counts."""
        return {
            "rows": self.num_rows,
            "left_out": self.num_left_out,
            "too_long": self.num_too_long,
            "cut": sum(example.was_cut for example in self.examples),
            "sequences": len(self.examples),
            "tokens": sum(example.num_tokens for example in self.examples),
            "trained_tokens": sum(example.num_trained for example in self.examples),
        }


def draw(
    rows: Iterable[Row],
    settings: DataSettings,
    seed: int,
    longest: int,
    encode: Callable[[Row], Iterator[Example | None]],
) -> Drawn:
    """Examples of as many rows as the settings allow, in an order that the seed draws.

    Args:
        rows: all there are.
        settings: how many of them.
        seed: of the run.
        longest: tokens of a sequence that may be learned from.
        encode: a row as examples, None for each that is too long.

    Raises:
        DataError: none is left.
    """
    all_rows = list(rows)
    random.Random(derive(seed, "rows")).shuffle(all_rows)
    drawn = Drawn(num_rows=len(all_rows))
    num_tokens = 0
    for number, row in enumerate(all_rows):
        if _is_enough(settings, number, num_tokens):
            drawn.num_left_out = len(all_rows) - number
            break
        for example in encode(row):
            if example is None:
                drawn.num_too_long += 1
            else:
                drawn.examples.append(example)
                num_tokens += example.num_tokens
    if not drawn.examples:
        raise DataError(
            f"none of the {len(all_rows)} rows can be learned from, {drawn.num_too_long} are "
            f"longer than {longest} tokens (trainer.data.max_length={settings.max_length}, or the "
            "context of the model); raise it, or name another trainer.source"
        )
    return drawn


def _is_enough(settings: DataSettings, num_rows: int, num_tokens: int) -> bool:
    return (settings.max_rows is not None and num_rows >= settings.max_rows) or (
        settings.max_tokens is not None and num_tokens >= settings.max_tokens
    )
