"""Many sessions as one flat axis of turns, with what is known of each turn and session.

Axes: B sessions, N agent turns of all of them, D what an encoder gives of a turn, R truths.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from drl.errors import DataError

EMBEDDED_AT_ONCE = 4096
"""Turns that are read together where order does not matter; memory, not results."""


@dataclass(frozen=True, eq=False)
class Layout:
    """Which turns belong to which session; `lengths_B` int [B], each at least 1."""

    lengths_B: Tensor

    @cached_property
    def starts_B(self) -> Tensor:
        """The place of each session's first turn, int [B]."""
        return self.lengths_B.cumsum(0) - self.lengths_B

    @cached_property
    def session_N(self) -> Tensor:
        """The session of each turn, int [N]."""
        numbers_B = torch.arange(len(self.lengths_B), device=self.lengths_B.device)
        return numbers_B.repeat_interleave(self.lengths_B)

    @property
    def num_sessions(self) -> int:
        """B."""
        return len(self.lengths_B)

    @property
    def num_turns(self) -> int:
        """N."""
        return len(self.session_N)


@dataclass(frozen=True, eq=False)
class Ragged:
    """The agent turns of some sessions: what an encoder made of them, float [N, D]."""

    inputs_ND: Tensor
    layout: Layout


def one_session(inputs_TD: Tensor) -> Ragged:
    """A batch of one session with T turns."""
    length_B = torch.tensor([len(inputs_TD)], device=inputs_TD.device)
    return Ragged(inputs_TD, Layout(length_B))


@dataclass(frozen=True, eq=False)
class Truth:
    """What is taken for true of all sessions of a corpus; NaN where nothing is known.

    `scores_B` float [B] in points; `labels_N` and `targets_N` float [N].
    """

    scores_B: np.ndarray
    labels_N: np.ndarray
    targets_N: np.ndarray


class Corpus:
    """Embedded sessions, which stay where they are (a memory map) until a batch wants them.

    Args:
        embeddings: of each session, float [T, D], T at least 1.
        train: numbers of the sessions to learn from.
        val: numbers of those that choose the epoch.

    Raises:
        DataError: there is no session to learn from.
    """

    def __init__(
        self,
        embeddings: Sequence[np.ndarray],
        *,
        train: Sequence[int],
        val: Sequence[int],
        device: str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> None:
        if not train:
            raise DataError("no session is left to learn from; see what the dataset left out")
        self._embeddings = embeddings
        self.train, self.val = list(train), list(val)
        self.device, self.dtype = device, dtype
        self.lengths_B = np.array([len(rows) for rows in embeddings])
        self._starts_B = self.lengths_B.cumsum() - self.lengths_B
        self.input_size = int(embeddings[0].shape[1])

    def batch(self, sessions: Sequence[int]) -> Ragged:
        """The inputs of these sessions, in this order."""
        rows = [np.asarray(self._embeddings[number], dtype=np.float32) for number in sessions]
        inputs_ND = torch.from_numpy(np.concatenate(rows)).to(self.device, self.dtype)
        lengths_B = torch.from_numpy(self.lengths_B[list(sessions)])
        return Ragged(inputs_ND, Layout(lengths_B.to(self.device)))

    def places(self, sessions: Sequence[int]) -> np.ndarray:
        """Where the turns of these sessions stand on the flat axis of the corpus, int [N]."""
        spans = [
            np.arange(self._starts_B[number], self._starts_B[number] + self.lengths_B[number])
            for number in sessions
        ]
        return np.concatenate(spans)

    def in_parts(self, sessions: Sequence[int]) -> Iterator[list[int]]:
        """These sessions in groups of bounded size."""
        part: list[int] = []
        num_turns = 0
        for number in sessions:
            if part and num_turns + self.lengths_B[number] > EMBEDDED_AT_ONCE:
                yield part
                part, num_turns = [], 0
            part.append(number)
            num_turns += int(self.lengths_B[number])
        if part:
            yield part

    def input_moments(self) -> tuple[Tensor, Tensor]:
        """Mean and standard deviation of the inputs over the training part, float [D] each.

        An input that never varies has the deviation 1.
        """
        sums = torch.zeros(2, self.input_size, dtype=torch.float64, device=self.device)
        count = 0
        for part in self.in_parts(self.train):
            inputs = self.batch(part).inputs_ND.double()
            sums += torch.stack([inputs.sum(0), inputs.square().sum(0)])
            count += len(inputs)
        mean = sums[0] / count
        variance = sums[1] / count - mean.square()
        # what is left of a constant by rounding is no spread
        deviation = torch.where(variance > 1e-12, variance.clamp(min=0).sqrt(), 1.0)
        return mean.to(self.dtype), deviation.to(self.dtype)
