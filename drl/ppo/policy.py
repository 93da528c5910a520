"""A policy with a critic: scores what it wrote, values what it saw, and remembers where it began.

The weights that learn are those that require gradients; everything else is frozen and shared.

Axes: B sequences, L places, N tokens, M places where values are read, H hidden size.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn
from torch.func import functional_call

from drl.errors import ConfigError
from drl.ppo.settings import CriticSettings
from drl.ppo.trainable import output_layer
from drl.ppo.trunk import Inputs, Trunk

if TYPE_CHECKING:
    from transformers import PreTrainedModel


class Batch(NamedTuple):
    """Some sequences, the tokens in them that were sampled, and where values are read."""

    inputs: Inputs
    token_rows_N: Tensor
    token_places_N: Tensor
    """The place before each token."""
    token_ids_N: Tensor
    value_rows_M: Tensor
    value_places_M: Tensor


class Scored(NamedTuple):
    """Float [N] log-probabilities and entropies, and float [M] values (0 without a critic)."""

    log_probs: Tensor
    entropies: Tensor
    values: Tensor


class Policy(nn.Module):
    """A language model that learns.

    Args:
        model: causal or encoder-decoder; the weights that require gradients learn. Dropout is
            off from here on.
        critic: what estimates values; None for none.
        temperature: at which the policy samples: its log-probabilities are of that distribution.
        seed: of the critic's first layer.

    Raises:
        ConfigError: nothing learns, or the model cannot write.
    """

    def __init__(
        self, model: PreTrainedModel, critic: CriticSettings | None, temperature: float, seed: int
    ) -> None:
        super().__init__()
        if not temperature > 0:
            raise ConfigError(
                f"temperature={temperature} must be above 0: a policy that does not explore learns "
                "nothing; use 1"
            )
        self.trunk = Trunk(model.eval())
        self.temperature = temperature
        self._learning = {
            name: weight for name, weight in self.trunk.named_parameters() if weight.requires_grad
        }
        if not self._learning:
            raise ConfigError(
                f"no weight of {type(model).__name__} requires gradients, so nothing can learn; "
                "add an adapter or choose a part to train"
            )
        self._start = {name: weight.detach().clone() for name, weight in self._learning.items()}
        self.head: nn.Module | None = None
        self.copies = nn.ParameterDict()
        self._critic = critic
        if critic is not None:
            self.head = _value_head(self.trunk.hidden_size, critic.head, seed).to(model.device)
            if critic.kind == "separate":
                self._copy_trunk()

    @property
    def model(self) -> PreTrainedModel:
        """The language model itself."""
        return self.trunk.model

    @property
    def has_critic(self) -> bool:
        """Whether values are estimated."""
        return self.head is not None

    def learning(self) -> Mapping[str, nn.Parameter]:
        """The policy's own weights that learn, by name; the critic's are not among them."""
        return self._learning

    def critic_parameters(self) -> list[nn.Parameter]:
        """The weights that only the critic has."""
        head = [] if self.head is None else list(self.head.parameters())
        return [*head, *self.copies.values()]

    def forward(self, batch: Batch) -> Scored:
        """Log-probabilities of the batch's tokens and values at its places."""
        states = self.trunk(batch.inputs)
        scores = self.trunk.scores(
            states, batch.token_rows_N, batch.token_places_N, batch.token_ids_N, self.temperature
        )
        if self.head is None or self._critic is None:
            return Scored(*scores, torch.zeros(len(batch.value_rows_M), device=self._device))
        if self._critic.kind == "separate":
            copies = {name.replace("/", "."): copy for name, copy in self.copies.items()}
            states = functional_call(self.trunk, copies, (batch.inputs,))
        hidden_MH = states.hidden[batch.value_rows_M, batch.value_places_M]
        if self._critic.detach:
            hidden_MH = hidden_MH.detach()
        return Scored(*scores, self.head(hidden_MH.float())[:, 0])

    @contextmanager
    def as_at_start(self) -> Iterator[None]:
        """The reference: inside, the weights that learn are those that the policy began with."""
        now = {name: weight.data for name, weight in self._learning.items()}
        for name, weight in self._learning.items():
            weight.data = self._start[name]
        try:
            yield
        finally:
            for name, weight in self._learning.items():
                weight.data = now[name]

    def state(self) -> dict[str, Tensor]:
        """All that changes or must be remembered: weights, critic, and the weights at the start."""
        return {
            **{f"policy.{name}": weight.detach() for name, weight in self._learning.items()},
            **{f"start.{name}": weight for name, weight in self._start.items()},
            **{f"critic.{name}": weight.detach() for name, weight in self._critic_named()},
        }

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Take up what `state` gave.

        Raises:
            ConfigError: it is of another policy.
        """
        own = self.state()
        if own.keys() != state.keys() or any(own[k].shape != state[k].shape for k in own):
            raise ConfigError(
                "the saved policy has other weights than this one, so it cannot go on from there; "
                "use the settings that it was saved with"
            )
        with torch.no_grad():
            for name, tensor in own.items():
                tensor.copy_(state[name])

    @property
    def _device(self) -> torch.device:
        return self.model.device

    def _critic_named(self) -> Iterator[tuple[str, nn.Parameter]]:
        if self.head is not None:
            for name, weight in self.head.named_parameters():
                yield f"head.{name}", weight
        yield from self.copies.items()

    def _copy_trunk(self) -> None:
        """Copies, for the critic, of the weights that learn and that hidden states depend on."""
        above = {id(weight) for weight in output_layer(self.model).parameters()}
        below = {id(weight) for weight in self.model.get_input_embeddings().parameters()}
        for name, weight in self._learning.items():
            if id(weight) in above - below:
                continue
            self.copies[name.replace(".", "/")] = nn.Parameter(weight.detach().clone())


def _value_head(size: int, kind: str, seed: int) -> nn.Module:
    """From hidden states [M, H] to values [M, 1], which are 0 at first."""
    last = nn.Linear(size, 1)
    nn.init.zeros_(last.weight)
    nn.init.zeros_(last.bias)
    if kind == "linear":
        return last
    first = nn.Linear(size, size)
    nn.init.orthogonal_(first.weight, generator=torch.Generator().manual_seed(seed))
    nn.init.zeros_(first.bias)
    return nn.Sequential(first, nn.Tanh(), last)
