"""Sequences as padded tensors, a bounded number of tokens at a time.

Axes: B sequences, L places, E encoder places, N tokens, M places where values are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from drl.ppo.layout import TokenSequence
from drl.ppo.padding import padded
from drl.ppo.policy import Batch
from drl.ppo.trunk import Inputs


class MicroBatch(NamedTuple):
    """What is computed at once, with the numbers of its tokens [N] and decisions [M] among all."""

    batch: Batch
    tokens_N: Tensor
    decisions_M: Tensor


def micro_batches(
    sequences: Sequence[TokenSequence], num_tokens: int, device: torch.device
) -> Iterator[MicroBatch]:
    """The sequences, longest first, in batches of at most so many tokens with their padding.

    A sequence that is longer is a batch of its own.
    """
    ordered = sorted(sequences, key=_length, reverse=True)
    start = 0
    while start < len(ordered):
        fitting = max(1, num_tokens // _length(ordered[start]))
        yield _micro_batch(ordered[start : start + fitting], device)
        start += fitting


def _length(sequence: TokenSequence) -> int:
    return len(sequence.ids) + len(sequence.encoder_ids or ())


def _micro_batch(sequences: Sequence[TokenSequence], device: torch.device) -> MicroBatch:
    rows, places, ids, numbers = [], [], [], []
    value_rows, value_places, decisions = [], [], []
    for row, sequence in enumerate(sequences):
        for span in sequence.spans:
            rows += [row] * (span.end - span.start)
            places += range(span.start - 1, span.end - 1)
            ids += sequence.ids[span.start : span.end]
            numbers += range(span.first, span.first + span.end - span.start)
        for site in sequence.sites:
            value_rows.append(row)
            value_places.append(site.place)
            decisions.append(site.decision)
    encoded = [sequence.encoder_ids for sequence in sequences if sequence.encoder_ids is not None]
    inputs = Inputs(
        *padded([sequence.ids for sequence in sequences], device),
        *(padded(encoded, device) if encoded else (None, None)),
    )

    def numbered(values: list[int]) -> Tensor:
        return torch.tensor(values, dtype=torch.long, device=device)

    batch = Batch(
        inputs,
        numbered(rows),
        numbered(places),
        numbered(ids),
        numbered(value_rows),
        numbered(value_places),
    )
    return MicroBatch(batch, numbered(numbers), numbered(decisions))
