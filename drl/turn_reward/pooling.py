"""One vector of many: hidden states of a text's tokens become the embedding of the text.

Pure functions. Axes: N texts, L tokens (padded on the right), D numbers of an embedding. Masks are
bool and True where a token counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from torch import Tensor

Pooling = Literal["mean", "mean_response", "mean_parts", "cls", "last_token", "last_eos"]
"""Which tokens make the embedding: all; those of the response; those before it and those of it,
side by side; the first; the last; the last, which then is an end-of-sequence token."""


def pool(kind: Pooling, hidden_NLD: Tensor, mask_NL: Tensor, response_NL: Tensor) -> Tensor:
    """The embeddings.

    Args:
        kind: which tokens count.
        hidden_NLD: float [N, L, D], of the last layer.
        mask_NL: bool [N, L], the tokens of each text, at least one.
        response_NL: bool [N, L], those of its response, the end of the text included.

    Returns:
        float32 [N, D]; of mean_parts [N, 2 D], where a part without tokens is 0.
    """
    import torch

    hidden_NLD = hidden_NLD.float()
    if kind == "mean":
        return _mean(hidden_NLD, mask_NL)
    if kind == "mean_response":
        return _mean(hidden_NLD, response_NL)
    if kind == "mean_parts":
        parts = (mask_NL & ~response_NL, response_NL)
        return torch.cat([_mean(hidden_NLD, part_NL) for part_NL in parts], dim=-1)
    if kind == "cls":
        return hidden_NLD[:, 0]
    last_N = mask_NL.sum(dim=1) - 1
    return hidden_NLD[torch.arange(len(last_N), device=last_N.device), last_N]


def _mean(hidden_NLD: Tensor, counts_NL: Tensor) -> Tensor:
    weights_NL = counts_NL.float()
    total_ND = (hidden_NLD * weights_NL.unsqueeze(-1)).sum(dim=1)
    return total_ND / weights_NL.sum(dim=1, keepdim=True).clamp(min=1.0)
