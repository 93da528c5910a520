"""Models whose trunk lies elsewhere, say on a swarm of machines that petals joins: the output layer
alone is here, and learns.

No package of petals is used: whatever gives hidden states can be the trunk.

Axes: B sequences, L places, H hidden size.
"""

from __future__ import annotations

from typing import Any, Protocol

import torch
from torch import Tensor, nn
from transformers import GenerationMixin, PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput, CausalLMOutput


class RemoteTrunk(Protocol):
    """A frozen causal model without its output layer."""

    def hidden(self, ids_L: Tensor) -> Tensor:
        """The last hidden states `[L, H]`, final norm included, of one sequence of tokens."""
        ...


class RemoteTrunkConfig(PreTrainedConfig):
    """Sizes of a model with a remote trunk."""

    model_type = "drl_remote_trunk"
    hidden_size: int = 1
    num_hidden_layers: int = 1  # of the cache that generate makes, and nothing fills
    vocab_size: int = 1


class RemoteTrunkModel(PreTrainedModel, GenerationMixin):
    """A causal model made of a trunk elsewhere and an output layer here.

    Give it to `TextRLEnv` and `TextRLActor` like any other. Each new token reads the whole text, as
    the trunk keeps nothing.

    Args:
        trunk: gives hidden states.
        lm_head: weights `[V, H]` of the model's output layer.
    """

    config_class = RemoteTrunkConfig
    base_model_prefix = "trunk"
    main_input_name = "input_ids"

    def __init__(self, trunk: RemoteTrunk, lm_head: Tensor) -> None:
        vocabulary, size = lm_head.shape
        super().__init__(RemoteTrunkConfig(hidden_size=size, vocab_size=vocabulary))
        self.trunk = _Rows(trunk)
        self.lm_head = nn.Linear(size, vocabulary, bias=False)
        self.lm_head.weight = nn.Parameter(lm_head.detach().clone())
        self.post_init()

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor | None = None, **unused: Any
    ) -> CausalLMOutput:
        """Logits of all places; those of padding are 0 states' logits."""
        states = self.trunk(input_ids=input_ids, attention_mask=attention_mask)
        return CausalLMOutput(logits=self.lm_head(states.last_hidden_state))

    def prepare_inputs_for_generation(  # pyright: ignore[reportIncompatibleMethodOverride] by name
        self, input_ids: Tensor, attention_mask: Tensor | None = None, **unused: Any
    ) -> dict[str, Tensor | None]:
        """The whole text: there is no cache."""
        return {"input_ids": input_ids, "attention_mask": attention_mask}

    def get_output_embeddings(self) -> nn.Linear:
        """The output layer."""
        return self.lm_head

    def _init_weights(self, module: nn.Module) -> None:
        """Nothing is drawn: weights are given."""


class _Rows(nn.Module):
    """Asks a trunk for the states of each row, without its padding."""

    def __init__(self, trunk: RemoteTrunk) -> None:
        super().__init__()
        self._trunk = trunk

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor | None = None, use_cache: bool = False
    ) -> BaseModelOutput:
        """States `[B, L, H]`, 0 at padding."""
        mask_BL = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        rows = []
        for ids_L, mask_L in zip(input_ids, mask_BL.bool(), strict=True):
            with torch.no_grad():
                states_H = self._trunk.hidden(ids_L[mask_L]).to(input_ids.device)
            row = states_H.new_zeros(len(ids_L), states_H.shape[-1])
            row[mask_L] = states_H
            rows.append(row)
        return BaseModelOutput(last_hidden_state=torch.stack(rows))
