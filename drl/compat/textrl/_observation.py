"""What an environment lets an agent see: hidden states, with the exact tokens they are of.

Axes: S candidates of one prompt, L places, H hidden size, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from drl.ppo.padding import padded
from drl.ppo.trainable import output_layer
from drl.ppo.trunk import Inputs, Trunk


@dataclass(frozen=True, slots=True)
class Seen:
    """Where an episode stands: its prompt, the candidates so far, and scores of their next tokens.

    `ended` says which candidates are over; `logits_SV` are float32.
    """

    prompt_ids: tuple[int, ...]
    token_ids: tuple[tuple[int, ...], ...]
    ended: tuple[bool, ...]
    logits_SV: Tensor


class Observation(Tensor):
    """The last hidden states `[S, H]` of the candidates, as a tensor that knows its tokens.

    An agent chooses by the tokens; what is calculated from an observation is a plain tensor.
    """

    # results are plain tensors
    __torch_function__ = torch._C._disabled_torch_function_impl  # pyright: ignore[reportAssignmentType] it binds so
    seen: Seen


@torch.no_grad()
def observe(
    trunk: Trunk,
    prompt_ids: tuple[int, ...],
    token_ids: Sequence[Sequence[int]],
    ended: Sequence[bool],
) -> Observation:
    """Read candidates, to see what would come next."""
    device = trunk.model.device
    if trunk.is_encoder_decoder:
        start = trunk.model.config.decoder_start_token_id
        rows = [[start, *tokens] for tokens in token_ids]
        inputs = Inputs(*padded(rows, device), *padded([prompt_ids] * len(rows), device))
    else:
        rows = [[*prompt_ids, *tokens] for tokens in token_ids]
        inputs = Inputs(*padded(rows, device))
    states = trunk(inputs)
    numbers_S = torch.arange(len(rows), device=states.hidden.device)
    last_S = torch.tensor([len(row) - 1 for row in rows], device=states.hidden.device)
    hidden_SH = states.hidden[numbers_S, last_S]
    if states.logits is None:
        logits_SV = output_layer(trunk.model)(hidden_SH)
    else:
        logits_SV = states.logits[numbers_S, last_S]
    observation = hidden_SH.as_subclass(Observation)
    texts = tuple(tuple(tokens) for tokens in token_ids)
    observation.seen = Seen(prompt_ids, texts, tuple(ended), logits_SV.float())
    return observation
