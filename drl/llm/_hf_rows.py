"""Buffers in which growing sequences keep the keys that only they have, row beside row.

A buffer's rows all have room for the same number of keys, a power of two, so that a step reads
them with one call and reads at most twice what is there. A row that fills up moves to the next
size. Rows are packed: the last one fills the gap that another leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from drl.llm._hf_attention import FAR, Rows, Stored

_SMALLEST = 64
_FIRST_SLOTS = 8


@dataclass(slots=True, eq=False)
class Row:
    """A growing sequence: what is read next, and where the keys that it sees lie."""

    shared: Sequence[Stored]
    """Parts of the prompt that are read where they lie."""
    token: int
    """The next token to be read."""
    position: int
    tail: int
    """Keys of the prompt that were copied into the row."""
    used: int
    """Keys in the row."""


class RowBuffer:
    """Rows with room for `room` keys each.

    Args:
        like: any stored keys of the model, for their shapes and kind.
        room: keys in a row.
    """

    def __init__(self, like: Stored, room: int) -> None:
        self.room = room
        self.rows: list[Row] = []
        self._like = like
        self._keys = self._values = self._positions = torch.empty(0)
        self._resize(_FIRST_SLOTS)

    def put(self, row: Row, stored: Stored | None) -> None:
        """Take a row in, with keys that it has already."""
        if len(self.rows) == len(self._positions):
            self._resize(2 * len(self.rows))
        slot = len(self.rows)
        self._positions[slot] = FAR
        if stored is not None:
            length = len(stored.positions)
            self._keys[:, slot, :, :length] = stored.keys
            self._values[:, slot, :, :length] = stored.values
            self._positions[slot, :length] = stored.positions
        self.rows.append(row)

    def take(self, row: Row, start: int) -> Stored:
        """Give a row up; a copy of its keys from `start` on."""
        slot = self.rows.index(row)
        end = row.used
        stored = Stored(
            self._keys[:, slot, :, start:end].clone(),
            self._values[:, slot, :, start:end].clone(),
            self._positions[slot, start:end].clone(),
        )
        last = self.rows.pop()
        if last is not row:
            self._keys[:, slot, :, : last.used] = self._keys[:, len(self.rows), :, : last.used]
            self._values[:, slot, :, : last.used] = self._values[:, len(self.rows), :, : last.used]
            self._positions[slot] = self._positions[len(self.rows)]
            self.rows[slot] = last
        return stored

    def step(self, tokens: slice) -> Rows:
        """The next step of all rows, which are these tokens of the batch."""
        device = self._positions.device
        slots = len(self.rows)
        ends = torch.tensor([row.used for row in self.rows], device=device)
        now = torch.tensor([row.position for row in self.rows], device=device)
        self._positions[torch.arange(slots, device=device), ends] = now
        used = max(row.used for row in self.rows) + 1
        return Rows(
            tokens=tokens,
            keys=self._keys[:, :slots, :, :used],
            values=self._values[:, :slots, :, :used],
            positions=self._positions[:slots, :used],
            ends=ends,
        )

    def _resize(self, slots: int) -> None:
        self._keys = self._grown(self._keys, self._like.keys, slots)
        self._values = self._grown(self._values, self._like.values, slots)
        positions = torch.full((slots, self.room), FAR, device=self._like.keys.device)
        if self.rows:
            positions[: len(self.rows)] = self._positions
        self._positions = positions

    def _grown(self, old: torch.Tensor, like: torch.Tensor, slots: int) -> torch.Tensor:
        layers, groups, _, size = like.shape
        # zeros, not whatever was in memory: what is masked must still be a number
        new = like.new_zeros((layers, slots, groups, self.room, size))
        if self.rows:
            new[:, : len(self.rows)] = old[:, : len(self.rows)]
        return new


class RowBuffers:
    """All rows of a batch, in buffers by size.

    Args:
        like: any stored keys of the model.
    """

    def __init__(self, like: Stored) -> None:
        self._like = like
        self._buffers: dict[int, RowBuffer] = {}
        self._homes: dict[Row, RowBuffer] = {}

    def __len__(self) -> int:
        return len(self._homes)

    def put(self, row: Row, tail: Stored | None) -> None:
        """Take a row in, with the keys of its prompt that it does not share."""
        room = _SMALLEST
        while room <= row.used:
            room *= 2
        if room not in self._buffers:
            self._buffers[room] = RowBuffer(self._like, room)
        home = self._buffers[room]
        home.put(row, tail)
        self._homes[row] = home

    def take(self, row: Row, start: int) -> Stored:
        """Give a row up; its keys from `start` on."""
        home = self._homes.pop(row)
        stored = home.take(row, start)
        if not home.rows:
            del self._buffers[home.room]
        return stored

    def ordered(self) -> list[Row]:
        """All rows in the order of the batch; a full one has moved to a larger buffer."""
        for row in [row for row, home in self._homes.items() if row.used == home.room]:
            self.put(row, self.take(row, 0))
        return [row for buffer in self._buffers.values() for row in buffer.rows]

    def step(self) -> list[Rows]:
        """The next step of all rows, in the order of `ordered`."""
        parts: list[Rows] = []
        start = 0
        for buffer in self._buffers.values():
            end = start + len(buffer.rows)
            parts.append(buffer.step(slice(start, end)))
            start = end
        return parts
