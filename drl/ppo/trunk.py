"""A model split into what gives hidden states and what makes tokens of them.

So log-probabilities are computed where tokens were sampled only, a few at a time, and the
[batch, length, vocabulary] tensor never exists. Whether a model can be split so is found out by
trying; where not (a scale or a cap on the logits), its own forward pass gives them.

Axes: B sequences, L places, E encoder places, H hidden size, N chosen places, V vocabulary.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from drl.models.probe import probe_ids
from drl.ops.policy_gradient import entropies
from drl.ops.token_scores import Output, TokenScores, token_scores
from drl.ppo.trainable import output_layer

if TYPE_CHECKING:
    from transformers import PreTrainedModel

CHUNK_BYTES = 2**24
"""Logits that exist at once, in bytes of float32."""

_LOG = logging.getLogger(__name__)
_PROBE_LENGTH = 6


class States(NamedTuple):
    """Last hidden states [B, L, H], and the logits [B, L, V] where the model cannot be split."""

    hidden: Tensor
    logits: Tensor | None


class Inputs(NamedTuple):
    """Right-padded tokens with masks (True counts); the encoder's only where there is one."""

    ids_BL: Tensor
    mask_BL: Tensor
    encoder_ids_BE: Tensor | None = None
    encoder_mask_BE: Tensor | None = None


class Trunk(nn.Module):
    """A language model without its last layer, and that layer.

    Args:
        model: causal or encoder-decoder, in evaluation mode.

    Raises:
        ConfigError: it has no language-model head, so it cannot write.
    """

    def __init__(self, model: PreTrainedModel) -> None:
        super().__init__()
        output_layer(model)  # refuses a model without
        self.model = model
        self.is_encoder_decoder = bool(model.config.is_encoder_decoder)
        self._is_split = False
        self._is_split = self._check_split()
        if not self._is_split:
            _LOG.info("%s: its logits are computed whole", type(model).__name__)

    @property
    def hidden_size(self) -> int:
        """H, of the states that the head reads."""
        with torch.no_grad():
            return self(self._probe()).hidden.shape[-1]

    def forward(self, inputs: Inputs) -> States:
        """Hidden states of all places."""
        if self._is_split:
            return States(self._hidden(inputs), None)
        output = self.model(**self._arguments(inputs), output_hidden_states=True, use_cache=False)
        states = output.decoder_hidden_states if self.is_encoder_decoder else output.hidden_states
        return States(states[-1], output.logits)

    def scores(
        self, states: States, rows_N: Tensor, places_N: Tensor, ids_N: Tensor, temperature: float
    ) -> TokenScores:
        """Log-probabilities of tokens by the states at the places before them.

        Args:
            states: of a batch.
            rows_N: int [N], the sequence of each token.
            places_N: int [N], the place before each token.
            ids_N: int [N], the tokens.
            temperature: logits are divided by it, as they were when the tokens were drawn.
        """
        if states.logits is not None:
            return _score_logits(states.logits[rows_N, places_N], ids_N, temperature)
        hidden_NH = states.hidden[rows_N, places_N]
        head = output_layer(self.model)
        size = max(1, CHUNK_BYTES // (4 * self.model.config.get_text_config().vocab_size))
        if type(head) is nn.Linear:  # and nothing more: an adapter's or a quantised one has its own
            output = Output(head.weight, head.bias)
            return token_scores(hidden_NH, output, ids_N, temperature, size)
        return _score_in_parts(head, hidden_NH, ids_N, temperature, size)

    def _hidden(self, inputs: Inputs) -> Tensor:
        if not self.is_encoder_decoder:
            body = self.model.base_model
            return body(
                input_ids=inputs.ids_BL, attention_mask=inputs.mask_BL, use_cache=False
            ).last_hidden_state
        encoded = self.model.get_encoder()(
            input_ids=inputs.encoder_ids_BE, attention_mask=inputs.encoder_mask_BE
        )
        return self.model.get_decoder()(
            input_ids=inputs.ids_BL,
            attention_mask=inputs.mask_BL,
            encoder_hidden_states=encoded.last_hidden_state,
            encoder_attention_mask=inputs.encoder_mask_BE,
            use_cache=False,
        ).last_hidden_state

    def _arguments(self, inputs: Inputs) -> dict[str, Tensor | None]:
        if not self.is_encoder_decoder:
            return {"input_ids": inputs.ids_BL, "attention_mask": inputs.mask_BL}
        return {
            "input_ids": inputs.encoder_ids_BE,
            "attention_mask": inputs.encoder_mask_BE,
            "decoder_input_ids": inputs.ids_BL,
            "decoder_attention_mask": inputs.mask_BL,
        }

    def _probe(self) -> Inputs:
        """A few tokens to try things with."""
        size = self.model.config.get_text_config().vocab_size
        ids = torch.tensor([probe_ids(size, _PROBE_LENGTH)], device=self.model.device)
        mask = torch.ones_like(ids)
        if self.is_encoder_decoder:
            return Inputs(ids, mask, ids, mask)
        return Inputs(ids, mask)

    def _check_split(self) -> bool:
        """Whether the head over hidden states gives the model's own logits."""
        probe = self._probe()
        with torch.no_grad():
            wanted = self.model(**self._arguments(probe), use_cache=False).logits.float()
            try:
                hidden = self._hidden(probe)
                found = output_layer(self.model)(hidden).float()
            except (TypeError, AttributeError, RuntimeError):
                return False  # it is built otherwise
        return found.shape == wanted.shape and bool(
            torch.allclose(found, wanted, rtol=1e-5, atol=1e-5 * float(wanted.abs().max()))
        )


def _score_in_parts(
    head: nn.Module, hidden_NH: Tensor, ids_N: Tensor, temperature: float, size: int
) -> TokenScores:
    """Scores by any head, some tokens at a time."""
    parts: list[TokenScores] = []
    for start in range(0, len(ids_N), size):
        part = slice(start, start + size)
        chunk = (head, hidden_NH[part], ids_N[part], temperature)
        if torch.is_grad_enabled():  # logits are computed again when gradients need them
            scored = checkpoint(_score_hidden, *chunk, use_reentrant=False)
        else:
            scored = _score_hidden(*chunk)
        parts.append(TokenScores(*scored))
    log_probs, entropy = zip(*parts, strict=True) if parts else ((), ())
    empty = hidden_NH.new_zeros(0, dtype=torch.float32)
    return TokenScores(torch.cat([empty, *log_probs]), torch.cat([empty, *entropy]))


def _score_hidden(
    head: nn.Module, hidden_NH: Tensor, ids_N: Tensor, temperature: float
) -> tuple[Tensor, Tensor]:
    scores = _score_logits(head(hidden_NH), ids_N, temperature)
    return scores.log_probs, scores.entropies


def _score_logits(logits_NV: Tensor, ids_N: Tensor, temperature: float) -> TokenScores:
    scaled_NV = logits_NV.float() / temperature
    chosen_N = scaled_NV.gather(-1, ids_N[:, None])[:, 0]
    return TokenScores(chosen_N - scaled_NV.logsumexp(dim=-1), entropies(scaled_NV))
