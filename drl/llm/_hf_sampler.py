"""Draws the next token of many sequences, each with its own settings and its own randomness.

A token is drawn by one uniform number, which is a hash of the sample's seed and the token's place:
so a sample depends on nothing but its prompt and its seed, whoever shares the batch.

Axes: R rows, V vocabulary, K the likeliest tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

import torch
from torch import Tensor

from drl.llm.base import Sampling

_WIDE = 1024
"""Likeliest tokens that are looked at first where top_p bounds them."""


class Draw(NamedTuple):
    """What decides one row's next token."""

    sampling: Sampling
    seed: int
    place: int
    """How many tokens of the sample were drawn before."""


class Drawn(NamedTuple):
    """Tokens, and the natural log of their probability under what they were drawn from."""

    tokens: list[int]
    log_probs: list[float]


def draw(logits_RV: Tensor, draws: Sequence[Draw]) -> Drawn:
    """The next token of each row.

    The distribution is softmax(logits / temperature), cut to `top_k` tokens, then to the smallest
    set whose probability reaches `top_p`, and scaled up to 1 again. At temperature 0 the likeliest
    token is taken, and its log-probability is that at temperature 1 without filters. Where none is
    asked for it is 1.

    Args:
        logits_RV: any float [R, V].
        draws: one for each row.

    Raises:
        FloatingPointError: the logits are not numbers.
    """
    temperatures = torch.tensor([d.sampling.temperature or 1.0 for d in draws])
    scaled = logits_RV.float() / temperatures.to(logits_RV.device)[:, None]
    log_probs_RV = scaled.log_softmax(dim=-1)
    if not (log_probs_RV.amax(dim=-1) <= 0).all():
        raise FloatingPointError("the model's logits are not numbers")
    greedy = [row for row, d in enumerate(draws) if d.sampling.temperature == 0]
    drawn_from = [row for row, d in enumerate(draws) if d.sampling.temperature != 0]
    plain = [row for row in drawn_from if not _is_filtered(draws[row])]
    filtered = [row for row in drawn_from if _is_filtered(draws[row])]
    tokens, log_probs = [0] * len(draws), [0.0] * len(draws)
    for rows, take in ((greedy, _likeliest), (plain, _any), (filtered, _among_likeliest)):
        if rows:
            part = log_probs_RV if len(rows) == len(draws) else log_probs_RV[rows]
            drawn = take(part, [draws[row] for row in rows])
            for row, token, log_prob in zip(rows, *drawn, strict=True):
                tokens[row], log_probs[row] = token, log_prob
    return Drawn(tokens, log_probs)


def uniform(seed: int, place: int) -> float:
    """A number in [0, 1) for the token at a place of a sample."""
    digest = blake2b(f"{seed}/{place}".encode(), digest_size=8).digest()
    return (int.from_bytes(digest) >> 11) / 2**53


def _is_filtered(given: Draw) -> bool:
    top_p = given.sampling.top_p
    return given.sampling.top_k is not None or (top_p is not None and top_p < 1)


def _likeliest(log_probs_RV: Tensor, draws: Sequence[Draw]) -> Drawn:
    best = log_probs_RV.max(dim=-1)
    return Drawn(best.indices.tolist(), best.values.tolist())


def _any(log_probs_RV: Tensor, draws: Sequence[Draw]) -> Drawn:
    tokens = _invert(log_probs_RV.exp(), draws)
    return Drawn(tokens[:, 0].tolist(), log_probs_RV.gather(1, tokens)[:, 0].tolist())


def _among_likeliest(log_probs_RV: Tensor, draws: Sequence[Draw]) -> Drawn:
    size = log_probs_RV.shape[-1]
    likeliest = log_probs_RV.topk(min(size, _WIDE), dim=-1)
    kept = _filter(likeliest.values, draws, size)
    if kept is None:
        likeliest = log_probs_RV.sort(dim=-1, descending=True)
        kept = _filter(likeliest.values, draws, size)
        assert kept is not None
    ranks = _invert(kept, draws)
    log_probs = kept.gather(1, ranks).log() - kept.sum(dim=-1, keepdim=True).log()
    tokens = likeliest.indices.gather(1, ranks)
    return Drawn(tokens[:, 0].tolist(), log_probs[:, 0].clamp(max=0.0).tolist())


def _filter(log_probs_RK: Tensor, draws: Sequence[Draw], size_V: int) -> Tensor | None:
    """Probabilities of the K likeliest tokens, 0 for dropped ones; None: K are too few to tell."""
    num_seen = log_probs_RK.shape[-1]
    device = log_probs_RK.device
    top_k = torch.tensor([d.sampling.top_k or size_V for d in draws], device=device)[:, None]
    top_p = [1.0 if d.sampling.top_p is None else d.sampling.top_p for d in draws]
    top_p = torch.tensor(top_p, dtype=torch.float64, device=device)[:, None]
    ranks = torch.arange(num_seen, device=device)
    probs = torch.where(ranks < top_k, log_probs_RK.double().exp(), 0.0)
    reached = probs.cumsum(dim=-1)
    is_settled = (top_k <= num_seen) | ((top_k >= size_V) & (reached[:, -1:] >= top_p))
    if num_seen < size_V and not is_settled.all():
        return None
    # top_p is a share of what top_k leaves; without top_k that is everything
    goal = top_p * torch.where(top_k < size_V, reached[:, -1:], 1.0)
    return torch.where((reached - probs < goal) | (ranks == 0), probs, 0.0)


def _invert(probs_RK: Tensor, draws: Sequence[Draw]) -> Tensor:
    """Where each row's uniform number falls in its distribution: int [R, 1]."""
    reached = probs_RK.cumsum(dim=-1, dtype=torch.float64)
    total = reached[:, -1:]
    numbers = torch.tensor([uniform(d.seed, d.place) for d in draws], dtype=torch.float64)
    aim = numbers.to(total.device)[:, None] * total
    # below the total also after rounding, so that a token with some probability is hit
    aim = torch.minimum(aim, torch.nextafter(total, torch.zeros_like(total)))
    return torch.searchsorted(reached, aim, right=True)
