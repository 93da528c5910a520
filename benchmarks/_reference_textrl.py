"""How TextRL 0.2 generates and learns, acted out again from a description; none of its code.

A text grows by one token at a time, at batch 1: the prompt and the text so far are tokenised anew,
the whole model reads all of it (its logits are not used), and a head of its own over the last
hidden state makes the next token, after a sort of the whole vocabulary. What it learns from are
those hidden states, so its trunk is frozen and an update is the head alone.

It is given the benefit where the description leaves a choice: no statistics are kept, and no
environment step is checked.

Axes: N transitions, H hidden size, V vocabulary.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel, PreTrainedTokenizerFast

GAMMA: Final = 0.95
CLIP: Final = 0.2
LEARNING_RATE: Final = 3e-6
MAX_GRAD_NORM: Final = 1.0
TOP_P: Final = 1.0
"""Nothing is left out; it sorts all the same."""


class Episode(NamedTuple):
    """One text: hidden states before each token and after the last, and the tokens."""

    states_N1H: Tensor
    token_ids_N: Tensor


@dataclass(frozen=True)
class Actor:
    """A frozen trunk and what learns on top: the output layer, and an estimate of values."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerFast
    value_head: nn.Module

    @classmethod
    def of(cls, model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast) -> "Actor":
        """With a new value head: three layers and nothing between them."""
        size = model.config.get_text_config().hidden_size
        layers = (
            nn.Linear(size, size // 2),
            nn.Linear(size // 2, size // 4),
            nn.Linear(size // 4, 1),
        )
        return cls(model, tokenizer, nn.Sequential(*layers))

    @torch.no_grad()
    def write(self, prompt: str, num_tokens: int) -> Episode:
        """A text of so many tokens."""
        words: list[str] = []
        states, chosen = [self._observe(prompt, words)], []
        for _ in range(num_tokens):
            logits_1V, _ = self.judge(states[-1])
            token = int(torch.distributions.Categorical(logits=logits_1V).sample().numpy()[0])
            chosen.append(token)
            words += self.tokenizer.convert_ids_to_tokens([token])
            states.append(self._observe(prompt, words))
        return Episode(torch.cat(states), torch.tensor(chosen))

    def _observe(self, prompt: str, words: list[str]) -> Tensor:
        """The last hidden state after the prompt and a text, float [1, H]."""
        text = self.tokenizer.convert_tokens_to_string(words)
        given = self.tokenizer([[prompt, text]], add_special_tokens=False, return_tensors="pt")
        output = self.model(
            input_ids=given["input_ids"],
            attention_mask=given["attention_mask"],
            output_hidden_states=True,
        )
        return output.hidden_states[-1][:, -1]

    def judge(self, states_NH: Tensor) -> tuple[Tensor, Tensor]:
        """Filtered logits [N, V] of the next token, and values [N]."""
        return _filtered(self._head(states_NH)), self.value_head(states_NH)[:, 0]

    def parameters(self) -> list[nn.Parameter]:
        """What learns."""
        return [*self._head.parameters(), *self.value_head.parameters()]

    @property
    def _head(self) -> nn.Module:
        head = self.model.get_output_embeddings()
        assert head is not None, "it writes"
        return head


def _filtered(logits_NV: Tensor) -> Tensor:
    """Logits without what is not among the likeliest tokens that reach `TOP_P`."""
    ordered_NV, places_NV = torch.sort(logits_NV, descending=True)
    reached_NV = ordered_NV.softmax(dim=-1).cumsum(dim=-1) > TOP_P
    reached_NV = torch.cat([torch.zeros_like(reached_NV[:, :1]), reached_NV[:, :-1]], dim=1)
    dropped_NV = torch.zeros_like(reached_NV).scatter(1, places_NV, reached_NV)
    return logits_NV.masked_fill(dropped_NV, float("-inf"))


def update(
    actor: Actor,
    episodes: Sequence[Episode],
    rewards: Sequence[float],
    *,
    epochs: int,
    minibatch_size: int,
) -> int:
    """Learn from texts that earned one reward each at their end; how many items were looked at."""
    optimizer = torch.optim.SGD(actor.parameters(), lr=LEARNING_RATE)
    states_NH = torch.cat([episode.states_N1H[:-1] for episode in episodes])
    next_states_NH = torch.cat([episode.states_N1H[1:] for episode in episodes])
    actions_N = torch.cat([episode.token_ids_N for episode in episodes])
    with torch.no_grad():
        old_N, _, values_N = _scores(actor, states_NH, actions_N)
        actor.judge(next_states_NH)  # its values are used where a text was cut, which none was
    returns_N = torch.cat([_returns(*pair) for pair in zip(episodes, rewards, strict=True)])
    advantages_N = returns_N - values_N
    advantages_N = (advantages_N - advantages_N.mean()) / (advantages_N.std(correction=0) + 1e-8)
    num_items = 0
    for chosen in _minibatches(len(actions_N), minibatch_size, epochs):
        log_probs_N, entropies_N, found_N = _scores(actor, states_NH[chosen], actions_N[chosen])
        ratio_N = (log_probs_N - old_N[chosen]).exp()
        gained_N = torch.minimum(
            ratio_N * advantages_N[chosen],
            ratio_N.clamp(1 - CLIP, 1 + CLIP) * advantages_N[chosen],
        )
        value_loss = nn.functional.mse_loss(found_N, returns_N[chosen])
        loss = -gained_N.mean() + value_loss - 0.0 * entropies_N.mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(actor.parameters(), MAX_GRAD_NORM)
        optimizer.step()
        num_items += len(chosen)
    return num_items


def _scores(actor: Actor, states_NH: Tensor, actions_N: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Log-probabilities of tokens, entropies and values, [N] each."""
    logits_NV, values_N = actor.judge(states_NH)
    drawn = torch.distributions.Categorical(logits=logits_NV)
    return drawn.log_prob(actions_N), drawn.entropy(), values_N


def _returns(episode: Episode, reward: float) -> Tensor:
    """What is still to come at each token of a text; with lambda 1 no value enters."""
    count = len(episode.token_ids_N)
    return reward * GAMMA ** torch.arange(count - 1, -1, -1).float()


def _minibatches(count: int, size: int, epochs: int) -> Iterator[Tensor]:
    """Numbers of items out of shuffled copies of all, until all were drawn `epochs` times."""
    waiting = torch.zeros(0, dtype=torch.long)
    drawn = 0
    while drawn < count * epochs:
        while len(waiting) < size:
            waiting = torch.cat([waiting, torch.randperm(count)])
        chosen, waiting = waiting[:size], waiting[size:]
        yield chosen
        drawn += size
