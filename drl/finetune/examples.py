"""Rows as what a trainer of TRL reads, with an account of those that are not among them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from drl.errors import DataError
from drl.finetune.settings import DataSettings
from drl.miner.base import DPORow, Row
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
    num_duplicates: int = 0
    num_conflicts: int = 0
    """Bad outputs that are good elsewhere, and pairs that are there the other way round too."""
    num_too_long: int = 0
    num_left_out: int = 0
    """By max_rows or max_tokens."""

    @property
    def num_tokens(self) -> int:
        """Of all sequences, prompts included."""
        return sum(example.num_tokens for example in self.examples)

    def to_json(self) -> dict[str, JSON]:
        """The counts."""
        return {
            "rows": self.num_rows,
            "duplicates": self.num_duplicates,
            "conflicts": self.num_conflicts,
            "left_out": self.num_left_out,
            "too_long": self.num_too_long,
            "cut": sum(example.was_cut for example in self.examples),
            "sequences": len(self.examples),
            "tokens": self.num_tokens,
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
        rows: all there are; in which order makes no difference.
        settings: how many of them.
        seed: of the run.
        longest: tokens of a sequence that may be learned from.
        encode: a row as examples, None for each that is too long.

    Raises:
        DataError: none is left.
    """
    drawn = Drawn()
    kept = _sifted(rows, drawn)
    random.Random(derive(seed, "rows")).shuffle(kept)
    num_tokens = 0
    for number, row in enumerate(kept):
        if number == settings.max_rows:
            drawn.num_left_out = len(kept) - number
            break
        found = list(encode(row))
        fitting = [example for example in found if example is not None]
        num_tokens += sum(example.num_tokens for example in fitting)
        if settings.max_tokens is not None and num_tokens > settings.max_tokens:
            drawn.num_left_out = len(kept) - number
            break
        drawn.num_too_long += len(found) - len(fitting)
        drawn.examples += fitting
    if not drawn.examples:
        raise DataError(_why_none(drawn, settings, longest, num_tokens))
    return drawn


def _sifted(rows: Iterable[Row], drawn: Drawn) -> list[Row]:
    """Each row once, without those that others contradict, in the order of their contents.

    So nothing hangs on the order of files, and of lines in them.
    """
    found: dict[bytes, Row] = {}
    for row in rows:
        drawn.num_rows += 1
        first = found.setdefault(row.digest(), row)
        if _place(row) < _place(first):
            found[row.digest()] = row
    kept = [found[digest] for digest in sorted(found) if found[digest].contrary() not in found]
    drawn.num_duplicates = drawn.num_rows - len(found)
    drawn.num_conflicts = len(found) - len(kept)
    return kept


def _place(row: Row) -> tuple[float, tuple[object, ...]]:
    """Which of equal rows stands for them: the one with the largest weight, then by origin."""
    return (-row.weight if isinstance(row, DPORow) else 0.0), row.origin.order


def _why_none(drawn: Drawn, settings: DataSettings, longest: int, num_tokens: int) -> str:
    if drawn.num_conflicts and drawn.num_conflicts + drawn.num_duplicates == drawn.num_rows:
        return (
            f"none of the {drawn.num_rows} rows can be learned from, since each is contradicted by "
            "another; name another trainer.source"
        )
    if settings.max_tokens is not None and num_tokens > settings.max_tokens:
        return (
            f"trainer.data.max_tokens={settings.max_tokens} is less than the {num_tokens} tokens "
            "of the first row that was drawn; raise it"
        )
    num_tried = drawn.num_rows - drawn.num_duplicates - drawn.num_conflicts - drawn.num_left_out
    of_all = "" if num_tried == drawn.num_rows else f" that were drawn of {drawn.num_rows}"
    return (
        f"none of the {num_tried} rows{of_all} can be learned from, {drawn.num_too_long} sequences "
        f"are longer than {longest} tokens (trainer.data.max_length={settings.max_length}, or the "
        "context of the model); raise it, or name another trainer.source"
    )
