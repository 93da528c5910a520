"""Dialogues as rows of tokens for TRL: what was read and what was written, one after the other.

A row is a sequence of the layout: a dialogue whose calls do not extend one another is several rows.
Axes: N tokens that were written, R rows, L places of the longest. Imports torch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from drl.ppo.layout import Layout, Span
from drl.trainer._turn_advantages import TokenAdvantages

_LEAST = 2
"""Places of a row without a dialogue: something to read and something to write."""


class FlatRows(NamedTuple):
    """Tokens [R, L], padded on the right.

    `is_real` is bool, False in padding; `learns` is bool, True where the policy wrote and learns;
    `advantages` and `log_probs` (the sampler's) are float and 0 elsewhere. The first `num_read`
    places of every row were read. `num_empty` rows at the end hold nothing but padding.
    """

    ids_RL: Tensor
    is_real_RL: Tensor
    learns_RL: Tensor
    advantages_RL: Tensor
    log_probs_RL: Tensor
    num_read: int
    num_empty: int


def flat_rows(layout: Layout, judged: TokenAdvantages, pad_id: int, pieces: int) -> FlatRows:
    """The sequences in which something is learned, up to the last token that is.

    Args:
        layout: dialogues by sequences.
        judged: their tokens.
        pad_id: fills up rows; it is never read nor learned.
        pieces: the rows are to be split into so many equal parts, so empty ones are added.
    """
    kept = list(_learned(layout, judged))
    num_empty = -len(kept) % pieces or (0 if kept else pieces)
    longest = max((len(ids) for ids, _ in kept), default=_LEAST)
    shape = (len(kept) + num_empty, longest)
    rows = FlatRows(
        ids_RL=torch.full(shape, pad_id),
        is_real_RL=torch.zeros(shape, dtype=torch.bool),
        learns_RL=torch.zeros(shape, dtype=torch.bool),
        advantages_RL=torch.zeros(shape),
        log_probs_RL=torch.zeros(shape),
        # all prompts are cut at one place, and what is left of them counts as read further on: so
        # nothing is padded on the left, where models with absolute positions would go wrong
        num_read=min((spans[0].start for _, spans in kept), default=1),
        num_empty=num_empty,
    )
    sampled_N = torch.tensor(layout.sampled_log_probs)
    for place, (ids, spans) in enumerate(kept):
        rows.ids_RL[place, : len(ids)] = torch.tensor(ids)
        rows.is_real_RL[place, : len(ids)] = True
        for span in spans:
            here = slice(span.start, span.end)
            rows.learns_RL[place, here] = True
            rows.advantages_RL[place, here] = judged.advantages_N[_tokens(span)]
            rows.log_probs_RL[place, here] = sampled_N[_tokens(span)]
    rows.is_real_RL[len(kept) :, : rows.num_read] = True  # attention needs something to look at
    return rows


def _learned(
    layout: Layout, judged: TokenAdvantages
) -> Iterator[tuple[Sequence[int], Sequence[Span]]]:
    """The sequences in which something is learned, up to its end, and where that stands."""
    for sequence in layout.sequences:
        spans = [span for span in sequence.spans if judged.used_N[_tokens(span)].all()]
        if spans:
            yield sequence.ids[: spans[-1].end], spans


def _tokens(span: Span) -> slice:
    """The numbers of its tokens."""
    return slice(span.first, span.first + span.end - span.start)
