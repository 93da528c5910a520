"""TextRL 0.2's environment: a prompt, several candidates that grow token by token, and rewards.

A subclass writes `get_reward`. Training draws whole batches of texts at once and then goes through
them step by step as this class would have; nothing is turned into text and tokenised again.

Axes: S candidates of one prompt (`compare_sample`).
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from drl.compat.textrl._items import check_room, text_of, tokens_of, wrapped
from drl.compat.textrl._language_model import unwrapped, vocabulary_of
from drl.compat.textrl._user_reward import ask
from drl.errors import ConfigError

if TYPE_CHECKING:
    from torch import Tensor, nn
    from transformers import PreTrainedTokenizerBase

    from drl.ppo.trunk import Trunk


@dataclass(frozen=True, slots=True)
class Discrete:
    """Actions are numbers from 0 up to `n`."""

    n: int


class TextRLEnv:
    """Candidates for prompts, and what `get_reward` says of them.

    An episode takes one prompt and lets `compare_sample` candidates grow by one token each step,
    until all have written a stop token or more than `env_max_length` tokens. One that ended before
    the others goes on as empty strings.

    Args:
        model: causal or encoder-decoder, from transformers, also wrapped by PEFT.
        tokenizer: the model's.
        observation_input: prompts: dicts with the key `input`, texts, or lists that begin with one.
        max_length: of a candidate in tokens; one more may be written.
        compare_sample: how many candidates a prompt gets.
        unfreeze_layer_from_past: as the actor has it; here it has no effect.
        seed: of the choice of prompts.

    Raises:
        ConfigError: the model cannot write, or a prompt is not one or leaves no room for a text.
    """

    reward_calls: ClassVar[Literal["per_token", "final"]] = "per_token"
    """Whether `get_reward` is called after each token, or once, when all candidates are over."""

    reward_every_n_tokens: ClassVar[int] = 1
    """Of `per_token`: after how many steps it is called; and when all candidates are over."""

    finish_on_truncation: ClassVar[bool] = True
    """Whether episodes cut in training or evaluation are told `finish` at their last step."""

    def __init__(
        self,
        model: nn.Module,
        tokenizer: PreTrainedTokenizerBase,
        observation_input: Sequence[Any] = (),
        max_length: int = 100,
        compare_sample: int = 2,
        unfreeze_layer_from_past: int = 0,
        *,
        seed: int = 0,
    ) -> None:
        for name, value in (("max_length", max_length), ("compare_sample", compare_sample)):
            if value < 1:
                raise ConfigError(f"{name}={value} must be at least 1; raise it")
        self.model = unwrapped(model)
        self.tokenizer = tokenizer
        self.observation_input = [wrapped(item) for item in observation_input]
        self.compare_sample = compare_sample
        self.unfreeze_layer_from_past = unfreeze_layer_from_past
        self.actions = _words(tokenizer, vocabulary_of(self.model))
        self.action_space = Discrete(len(self.actions))
        ends = {"sep": tokenizer.sep_token_id, "eos": tokenizer.eos_token_id}
        end_ids = [token for token in ends.values() if isinstance(token, int)]
        self.gen_stop_toks = [self.actions[token] for token in end_ids]
        empty = [token for token, word in enumerate(self.actions) if not word]
        self.stop_ids = frozenset([*end_ids, *empty])
        self.env_max_length = _bounded(max_length, self.model.config.to_dict(), tokenizer)
        self._random = random.Random(seed)
        self._trunk: Trunk | None = None
        self._observes = True
        self._tokens: dict[str, tuple[int, ...]] = {}
        for item in self.observation_input:
            self._read(self.get_obs_input(item))
        self.input_item: Any = None
        self.prompt = ""
        self.prompt_ids: tuple[int, ...] = ()
        self.predicted: list[list[str]] = []
        self.predicted_end: list[bool] = []
        self.token_ids: list[list[int]] = []

    @property
    def observation_space(self) -> list[Any]:
        """The items; no space as gym has them."""
        return self.observation_input

    def gat_obs_input(self, input_item: Any) -> str:
        """The prompt of an item; write it, or `get_obs_input`, for items of another form."""
        return text_of(input_item)

    def get_obs_input(self, input_item: Any) -> str:
        """The prompt of an item; calls `gat_obs_input`, as the name once was spelled."""
        return self.gat_obs_input(input_item)

    def get_reward(
        self, input_item: Any, predicted_list: list[list[str]], finish: bool
    ) -> float | Sequence[float] | np.ndarray | Tensor | None:
        """What the candidates have earned with their last token: a number each; to be written.

        Args:
            input_item: what the episode is about.
            predicted_list: the tokens of each candidate so far, as strings; for the text, see
                `tokenizer.convert_tokens_to_string`.
            finish: whether all candidates are over.
        """
        return np.zeros(self.compare_sample)

    def reset(self, input_item: Any = None) -> Tensor:
        """Begin an episode, with a prompt by chance unless one is given; what there is to see.

        Raises:
            ConfigError: there are no prompts.
        """
        if input_item is None:
            if not self.observation_input:
                raise ConfigError(
                    "observation_input is empty, so there is no prompt to choose; give some, or "
                    "one to reset"
                )
            input_item = self._random.choice(self.observation_input)
        self.begin(input_item)
        return self._observation()

    def step(self, action: Any) -> tuple[Tensor, np.ndarray, bool, dict[str, list[str]]]:
        """Append a token to each candidate: observation, rewards `[S]`, whether all are over, info.

        Args:
            action: ids of tokens, one for each candidate; those of candidates that are over are
                passed over.

        Raises:
            ValueError: there are too few or too many, there is no such token, or all candidates
                are over.
            ConfigError: `get_reward` failed.
        """
        tokens = np.asarray(action).reshape(-1).tolist()
        if len(tokens) != self.compare_sample:
            raise ValueError(
                f"action has {len(tokens)} tokens for {self.compare_sample} candidates"
            )
        if not all(0 <= token < len(self.actions) for token in tokens):
            raise ValueError(f"action {tokens} has a token outside 0 to {len(self.actions) - 1}")
        rewards = self.advance(tokens)
        return self._observation(), rewards, self.is_over, {"predicted_str": self.texts()}

    @property
    def is_over(self) -> bool:
        """Whether all candidates have ended."""
        return all(self.predicted_end)

    def texts(self) -> list[str]:
        """The candidates as text."""
        return [self.tokenizer.convert_tokens_to_string(words) for words in self.predicted]

    def begin(self, input_item: Any) -> None:
        """Set an episode up without looking at it; what `reset` and training share.

        Raises:
            ConfigError: the item holds no prompt, or one that leaves no room.
        """
        self.input_item = wrapped(input_item)
        self.prompt = self.get_obs_input(self.input_item)
        self.prompt_ids = self._read(self.prompt)
        self.predicted = [[] for _ in range(self.compare_sample)]
        self.token_ids = [[] for _ in range(self.compare_sample)]
        self.predicted_end = [False] * self.compare_sample

    def advance(self, tokens: Sequence[int], *, is_cut: bool = False) -> np.ndarray:
        """Append a token to each candidate; the rewards, float64 `[S]`.

        Args:
            tokens: ids; what stands at candidates that are over is passed over.
            is_cut: the episode ends here, whether candidates have or not.

        Raises:
            ValueError: all candidates are over.
            ConfigError: `get_reward` failed.
        """
        if self.is_over:
            raise ValueError("the episode is over, or none has begun; call reset")
        for place, token in enumerate(tokens):
            if self.predicted_end[place]:
                self.predicted[place].append("")
                continue
            written = self.token_ids[place]
            written.append(token)
            self.predicted[place].append(self.actions[token])
            if token in self.stop_ids or len(written) > self.env_max_length:
                self.predicted_end[place] = True
        finish = is_cut or self.is_over
        is_due = len(self.predicted[0]) % self.reward_every_n_tokens == 0
        if finish or (self.reward_calls == "per_token" and is_due):
            return ask(self, finish=finish)
        return np.zeros(self.compare_sample)

    @contextmanager
    def unseen(self) -> Iterator[None]:
        """Inside, `reset` and `step` give empty observations, and the model is not asked."""
        self._observes = False
        try:
            yield
        finally:
            self._observes = True

    def get_statistics(self) -> list[tuple[str, float]]:
        """Named numbers for scores.txt; none unless a subclass has some."""
        return []

    def _observation(self) -> Tensor:
        import torch

        if not self._observes:
            return torch.empty(self.compare_sample, 0)
        from drl.compat.textrl._observation import observe
        from drl.ppo.trunk import Trunk

        if self._trunk is None:
            self._trunk = Trunk(self.model.eval())
        return observe(self._trunk, self.prompt_ids, self.token_ids, self.predicted_end)

    def _read(self, prompt: str) -> tuple[int, ...]:
        """The tokens of a prompt that has room for its texts."""
        if prompt not in self._tokens:
            ids = tokens_of(prompt, self.model, self.tokenizer)
            check_room(prompt, ids, self.model, self.env_max_length + 1)
            self._tokens[prompt] = ids
        return self._tokens[prompt]


def _words(tokenizer: PreTrainedTokenizerBase, size: int) -> list[str]:
    """Tokens as strings, by id; those that only the model knows are empty."""
    vocabulary = tokenizer.get_vocab()
    words = [""] * max(size, 1 + max(vocabulary.values(), default=0))
    for word, token in vocabulary.items():
        words[token] = word
    return words


def _bounded(max_length: int, config: dict[str, Any], tokenizer: PreTrainedTokenizerBase) -> int:
    """`max_length`, but no more than model or tokenizer allow."""
    of_model = config.get("max_length")
    return min(max(of_model or 0, tokenizer.model_max_length), max_length)
