"""Rows of tokens as one tensor. Axes: B rows, L places of the longest."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def padded(
    rows: Sequence[Sequence[int]], device: torch.device, *, on_left: bool = False
) -> tuple[Tensor, Tensor]:
    """Ids, int [B, L], and bool [B, L] where there are some; padding holds 0, never looked at."""
    longest = max(map(len, rows))
    ids: list[list[int]] = []
    for row in rows:
        padding = [0] * (longest - len(row))
        ids.append([*padding, *row] if on_left else [*row, *padding])
    lengths_B1 = torch.tensor([[len(row)] for row in rows], device=device)
    places_L = torch.arange(longest, device=device)
    if on_left:
        places_L = places_L.flip(0)
    return torch.tensor(ids, dtype=torch.long, device=device), places_L < lengths_B1
