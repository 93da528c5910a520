"""Attention over a part of the keys, and how the results of several parts make one.

A softmax over all keys is the mean of the softmaxes over parts of them, weighted by the parts'
denominators; so every part gives the log of its own beside its result.

Axes: R rows, N tokens of a step, H query heads, G key heads, S keys, D and Dv head sizes.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

MASKED = -1e30
"""Added to a score that does not count; finite, so that a part without any weighs 0 and not NaN."""


class Rule(NamedTuple):
    """How a layer weighs keys: scale, how far back it sees, a soft limit on scores, and sinks."""

    scale: float
    window: int | None
    softcap: float | None
    sinks: Tensor | None
    """float [H]: scores of a key that every token sees and that holds nothing."""


class Seen(NamedTuple):
    """What tokens took from one part: out [..., Dv], and the float log of the denominator [...]."""

    out: Tensor
    lse: Tensor


def visible(now: Tensor, keys: Tensor, window: int | None) -> Tensor:
    """A mask to add to scores [N, S]: tokens at `now` see keys up to there, not too far back."""
    distance = now[:, None] - keys[None]
    hidden = distance < 0
    if window is not None:
        hidden |= distance >= window
    return torch.zeros(hidden.shape, device=now.device).masked_fill_(hidden, MASKED)


def merge(first: Seen, second: Seen) -> Seen:
    """The softmax over the keys of both parts; exact, as if it had been one."""
    weight = torch.sigmoid(second.lse - first.lse)[..., None].to(first.out.dtype)
    return Seen(torch.lerp(first.out, second.out, weight), torch.logaddexp(first.lse, second.lse))


def softmax_part(
    q: Tensor, k: Tensor, v: Tensor, rule: Rule, mask: Tensor | None, *, is_causal: bool = False
) -> Seen:
    """Attention of q [R, G, n, D] over k [R, G, S, D], v [R, G, S, Dv], and its denominators' log.

    On the CPU torch's own fused kernel does it; it is what scaled_dot_product_attention runs, but
    that one keeps the denominators to itself.
    """
    if q.device.type == "cpu" and rule.softcap is None and k.shape[-1] == v.shape[-1]:
        if mask is not None:
            mask = mask.to(q.dtype)
            mask = mask if mask.ndim == 4 else mask[None, None]
        out, lse = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
            q, k, v, is_causal=is_causal, attn_mask=mask, scale=rule.scale
        )
        return Seen(out, lse)
    return softmax_part_by_hand(q, k, v, rule, mask, is_causal=is_causal)


def softmax_part_by_hand(
    q: Tensor, k: Tensor, v: Tensor, rule: Rule, mask: Tensor | None, *, is_causal: bool = False
) -> Seen:
    """The same from matrix products, on any device and with a soft limit."""
    scores = (q @ k.transpose(-1, -2)).float() * rule.scale
    if rule.softcap is not None:
        scores = torch.tanh(scores / rule.softcap) * rule.softcap
    if is_causal:
        order = torch.arange(q.shape[-2], device=q.device)
        mask = visible(order, order, None)
    if mask is not None:
        scores = scores + mask
    lse = scores.logsumexp(dim=-1)
    weights = torch.exp(scores - lse[..., None]).to(v.dtype)
    return Seen(weights @ v, lse)
