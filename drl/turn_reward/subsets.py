"""Which turns of each session an update looks at, drawn for every member by its own seed.

Axes: M members, B sessions, N turns of all of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Generator, Tensor

from drl.turn_reward.ragged import Layout


def draw_turns(
    layout: Layout, draws: int, generators: Sequence[Generator], *, replaced: bool
) -> Tensor:
    """How often each turn was drawn, float [M, N].

    Args:
        layout: of the sessions.
        draws: turns of each session; without replacement at most as many as it has.
        generators: one a member, on the CPU.
        replaced: whether a turn may be drawn twice.
    """
    draw = _with_replacement if replaced else _without_replacement
    return draw(layout, draws, generators)


def _without_replacement(layout: Layout, draws: int, generators: Sequence[Generator]) -> Tensor:
    """The turns with the smallest of random numbers in each session, float [M, N] of 0 and 1."""
    device = layout.lengths_B.device
    # in double, so that a session's number does not use up the digits of the random ones
    random_MN = _random(generators, layout.num_turns).to(device)
    order_MN = (layout.session_N + random_MN).argsort(dim=1)
    rank_N = torch.arange(layout.num_turns, device=device) - layout.starts_B[layout.session_N]
    is_drawn_MN = (rank_N < draws).float().expand(order_MN.shape)
    return torch.empty(order_MN.shape, device=device).scatter_(1, order_MN, is_drawn_MN)


def _with_replacement(layout: Layout, draws: int, generators: Sequence[Generator]) -> Tensor:
    """Counts of independent draws, float [M, N]."""
    device = layout.lengths_B.device
    random_MBK = _random(generators, layout.num_sessions, draws).to(device)
    offset_MBK = (random_MBK * layout.lengths_B[:, None]).long()
    places_MX = (layout.starts_B[:, None] + offset_MBK).flatten(1)
    counts_MN = torch.zeros(len(generators), layout.num_turns, device=device)
    return counts_MN.scatter_add_(1, places_MX, torch.ones(places_MX.shape, device=device))


def _random(generators: Sequence[Generator], *shape: int) -> Tensor:
    """Uniform numbers of each generator, double [M, ...]."""
    each = [torch.rand(shape, generator=generator, dtype=torch.float64) for generator in generators]
    return torch.stack(each)
