"""Scores of tokens straight from hidden states, without the logits of all of them.

A vocabulary is large: logits of all tokens are most of what an update would hold, and automatic
differentiation keeps several copies. Here they exist for a few tokens at a time, are made again
when gradients are asked for, and the gradient of the output matrix is summed in place.

Axes: N tokens, C those at once, H hidden size, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx, once_differentiable
from torch.nn.functional import linear


class TokenScores(NamedTuple):
    """Log-probabilities of chosen tokens and the entropies they were drawn from: float [N] each."""

    log_probs: Tensor
    entropies: Tensor


class Output(NamedTuple):
    """What makes logits of hidden states: a matrix [V, H] and maybe a bias [V]."""

    weight_VH: Tensor
    bias_V: Tensor | None


def token_scores(
    hidden_NH: Tensor, output: Output, ids_N: Tensor, temperature: float, num_at_once: int
) -> TokenScores:
    """Log-probabilities of tokens under softmax(logits / temperature), and its entropies, in nats.

    Gradients reach the hidden states and the output; a second derivative does not exist.

    Args:
        hidden_NH: float [N, H], the states that the tokens were drawn from.
        output: in the same format.
        ids_N: int [N], the tokens.
        temperature: above 0.
        num_at_once: C; it changes memory, not the result.
    """
    scores = _Scores.apply(hidden_NH, *output, ids_N, temperature, num_at_once)
    return TokenScores(*scores)


class _Context(FunctionCtx):
    """What the two passes share."""

    saved_tensors: tuple[Tensor, Tensor, Tensor | None, Tensor, Tensor]
    needs_input_grad: tuple[bool, ...]
    temperature: float
    num_at_once: int


class _Scores(torch.autograd.Function):
    """With z = logits / temperature, p = softmax(z) and H the entropy.

    d log p_k / d z_j = [j = k] - p_j, and d H / d z_j = -p_j (log p_j + H).
    """

    @staticmethod
    def forward(
        ctx: _Context,
        hidden_NH: Tensor,
        weight_VH: Tensor,
        bias_V: Tensor | None,
        ids_N: Tensor,
        temperature: float,
        num_at_once: int,
    ) -> tuple[Tensor, Tensor]:
        log_probs_N = torch.empty(len(ids_N), device=hidden_NH.device)
        entropies_N = torch.empty_like(log_probs_N)
        output = Output(weight_VH, bias_V)
        for chunk in _chunks(len(ids_N), num_at_once):
            log_probs_CV = _log_probs(hidden_NH[chunk], output, temperature)
            log_probs_N[chunk] = log_probs_CV.gather(1, ids_N[chunk, None])[:, 0]
            probs_CV = log_probs_CV.exp()
            entropies_N[chunk] = -_inner(probs_CV, log_probs_CV)
            del log_probs_CV, probs_CV
        kept = (hidden_NH, weight_VH, bias_V, ids_N, entropies_N)
        ctx.save_for_backward(*kept)  # pyright: ignore[reportArgumentType] None may be kept too
        ctx.temperature, ctx.num_at_once = temperature, num_at_once
        return log_probs_N, entropies_N

    @staticmethod
    @once_differentiable
    def backward(  # pyright: ignore[reportIncompatibleMethodOverride] a fault of the decorator
        ctx: _Context, *grad_outputs: Tensor
    ) -> tuple[Tensor | None, ...]:
        log_probs_grad_N, entropies_grad_N = grad_outputs
        hidden_NH, weight_VH, bias_V, ids_N, entropies_N = ctx.saved_tensors
        wants_hidden, wants_weight, wants_bias = ctx.needs_input_grad[:3]
        hidden_grad_NH = torch.empty_like(hidden_NH) if wants_hidden else None
        weight_grad_VH = torch.zeros_like(weight_VH) if wants_weight else None
        bias_grad_V = torch.zeros_like(bias_V) if bias_V is not None and wants_bias else None
        for chunk in _chunks(len(ids_N), ctx.num_at_once):
            grad_C1, entropy_grad_C1 = log_probs_grad_N[chunk, None], entropies_grad_N[chunk, None]
            log_probs_CV = _log_probs(hidden_NH[chunk], Output(weight_VH, bias_V), ctx.temperature)
            probs_CV = log_probs_CV.exp()
            logits_grad_CV = log_probs_CV.add_(entropies_N[chunk, None]).mul_(-entropy_grad_C1)
            logits_grad_CV.sub_(grad_C1).mul_(probs_CV)
            logits_grad_CV.scatter_add_(1, ids_N[chunk, None], grad_C1)
            logits_grad_CV = logits_grad_CV.div_(ctx.temperature).to(weight_VH.dtype)
            del log_probs_CV, probs_CV
            if hidden_grad_NH is not None:
                torch.mm(logits_grad_CV, weight_VH, out=hidden_grad_NH[chunk])
            if weight_grad_VH is not None:
                weight_grad_VH.addmm_(logits_grad_CV.T, hidden_NH[chunk])
            if bias_grad_V is not None:
                bias_grad_V += logits_grad_CV.sum(dim=0)
        return hidden_grad_NH, weight_grad_VH, bias_grad_V, None, None, None


def _chunks(count: int, size: int) -> Iterator[slice]:
    for start in range(0, count, size):
        yield slice(start, start + size)


def _log_probs(hidden_CH: Tensor, output: Output, temperature: float) -> Tensor:
    logits_CV = linear(hidden_CH, *output).float()
    return logits_CV.div_(temperature).log_softmax(dim=-1)


def _inner(left_CV: Tensor, right_CV: Tensor) -> Tensor:
    """Products of rows, float [C], without a tensor [C, V]."""
    return torch.bmm(left_CV[:, None], right_CV[:, :, None])[:, 0, 0]
