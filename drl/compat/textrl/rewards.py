"""Rewards as TextRL 1.0 has them: from functions, sums of others, from classifiers, on form.

All of them take datasets of texts and of chats. A plain function gets texts; one that wants the
messages of a chat says `@reward_fn(reads="messages")`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, overload

from drl.compat.textrl._reward_base import BaseReward, Reads, RewardFn, Text, text_of
from drl.errors import ConfigError

__all__ = [
    "BaseReward",
    "ClassifierReward",
    "RewardFn",
    "compose",
    "length_penalty",
    "repetition_penalty",
    "reward_fn",
    "to_reward_fn",
]

Function = Callable[..., object]
"""Gives a number for each completion, or None; that it does is checked at each call."""


@overload
def reward_fn(fn: Function, *, name: str | None = None, reads: Reads = "text") -> BaseReward: ...
@overload
def reward_fn(
    fn: None = None, *, name: str | None = None, reads: Reads = "text"
) -> Callable[[Function], BaseReward]: ...
def reward_fn(
    fn: Function | None = None, *, name: str | None = None, reads: Reads = "text"
) -> BaseReward | Callable[[Function], BaseReward]:
    """A decorator, with or without arguments, that makes a function a reward.

    Args:
        fn: takes `prompts`, `completions` and `**columns`.
        name: in the logs; the function's own if None.
        reads: text also where the dataset holds chats, or messages as the dataset has them.

    Raises:
        ConfigError: the function does not take these arguments, or is a coroutine.
    """
    if fn is None:

        def decorate(function: Function) -> BaseReward:
            return _FunctionReward(function, name, reads)

        return decorate
    return _FunctionReward(fn, name, reads)


def to_reward_fn(obj: object) -> BaseReward:
    """A reward from anything that can be called as one; rewards come back as they are.

    Raises:
        ConfigError: it cannot.
    """
    if isinstance(obj, BaseReward):
        return obj
    if not callable(obj):
        raise ConfigError(
            f"reward={obj!r} cannot be called; give a function of (prompts, completions, "
            "**columns), or a BaseReward"
        )
    return _FunctionReward(obj, None, "text")


def compose(*fns: object, weights: Iterable[float] | None = None) -> BaseReward:
    """The weighted sum of rewards.

    Args:
        fns: whatever `to_reward_fn` takes.
        weights: one for each; 1 if None.

    Raises:
        ConfigError: there is no reward, or another number of weights.
    """
    rewards = [to_reward_fn(each) for each in fns]
    factors = [1.0] * len(rewards) if weights is None else [float(weight) for weight in weights]
    if not rewards:
        raise ConfigError("compose() was given no reward; name at least one")
    if len(factors) != len(rewards):
        raise ConfigError(
            f"compose() was given {len(factors)} weights for {len(rewards)} rewards; give one each"
        )
    return _Sum(rewards, factors)


def length_penalty(
    prompts: Sequence[Text],
    completions: Sequence[Text],
    target_length: int = 64,
    scale: float = 0.01,
    **_: Any,
) -> list[float]:
    """Minus `scale` for each character that a completion is longer or shorter than the target."""
    return [-scale * abs(len(text_of(completion)) - target_length) for completion in completions]


def repetition_penalty(
    prompts: Sequence[Text],
    completions: Sequence[Text],
    n: int = 3,
    scale: float = 1.0,
    **_: Any,
) -> list[float]:
    """Between -`scale` and 0: the share of a completion's n-grams of words that came before.

    A completion of fewer than `n` words repeats nothing.
    """
    if n < 1:
        raise ConfigError(f"repetition_penalty: n={n} must be at least 1; use 3")
    return [-scale * _repeated(text_of(completion).split(), n) for completion in completions]


class ClassifierReward(BaseReward):
    """The score that a text classifier, such as a pipeline of transformers, gives a completion.

    Args:
        pipeline: called with a list of texts; gives for each a dict of label and score, or a list
            of them. Let it truncate (`pipeline(..., truncation=True)`) if texts may be too long.
        target_label: whose score counts; None takes that of the label that comes first.
        score_fn: makes a number of the list of labels and scores of a text instead.
        combine_prompt: classify prompt and completion together. Of a chat these are the contents
            of its messages, one under the other.
        scale: a factor.
        name: in the logs.

    Raises:
        ConfigError: both target_label and score_fn are given.
    """

    reads: ClassVar[Reads] = "messages"

    def __init__(
        self,
        pipeline: Callable[..., Any],
        target_label: str | None = None,
        score_fn: Callable[[list[dict[str, Any]]], float] | None = None,
        combine_prompt: bool = True,
        scale: float = 1.0,
        name: str = "classifier_reward",
    ) -> None:
        if target_label is not None and score_fn is not None:
            raise ConfigError("target_label and score_fn both say what counts; give one of them")
        self.name = name
        self._pipeline = pipeline
        self._target_label = target_label
        self._score_fn = score_fn
        self._combine_prompt = combine_prompt
        self._scale = scale
        self._options = {"top_k": None} if self._needs_all() and _takes(pipeline, "top_k") else {}

    def score(
        self, prompts: Sequence[Text], completions: Sequence[Text], **columns: Any
    ) -> list[float]:
        """Scores in the order of the completions."""
        pairs = zip(prompts, completions, strict=True)
        texts = [self._text(prompt, completion) for prompt, completion in pairs]
        return [self._scale * self._score_in(each) for each in self._answers(texts)]

    def _needs_all(self) -> bool:
        return self._target_label is not None or self._score_fn is not None

    def _answers(self, texts: Sequence[str]) -> list[Any]:
        answers = list(self._pipeline(list(texts), **self._options))
        if len(answers) != len(texts):
            raise ConfigError(
                f"reward {self.name}: the classifier gave {len(answers)} answers to {len(texts)} "
                "texts; give it one that answers each"
            )
        return answers

    def _text(self, prompt: Text, completion: Text) -> str:
        if not self._combine_prompt:
            return text_of(completion)
        if isinstance(prompt, str) and isinstance(completion, str):
            return prompt + completion
        return f"{text_of(prompt)}\n{text_of(completion)}"

    def _score_in(self, answer: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> float:
        labels = [dict(answer)] if isinstance(answer, Mapping) else [dict(each) for each in answer]
        if self._score_fn is not None:
            return self._score_fn(labels)
        if self._target_label is None:
            return float(labels[0]["score"])
        scores = {each["label"]: float(each["score"]) for each in labels}
        if self._target_label not in scores:
            raise ConfigError(
                f"reward {self.name}: target_label={self._target_label} is none of the "
                f"classifier's labels {sorted(scores)}; name one of them"
            )
        return scores[self._target_label]


class _FunctionReward(BaseReward):
    """A function as a reward."""

    def __init__(self, fn: Function, name: str | None, reads: Reads) -> None:
        inner = fn.func if isinstance(fn, functools.partial) else fn
        self.name = name or (inner.__name__ if inspect.isroutine(inner) else type(inner).__name__)
        self.reads = reads  # pyright: ignore[reportAttributeAccessIssue] this one's choice
        if inspect.iscoroutinefunction(inner):
            raise ConfigError(f"reward {self.name} is a coroutine; write it with def")
        if not _takes(fn, "prompts", "completions", "any_column"):
            raise ConfigError(
                f"reward {self.name} must take prompts, completions and **columns; write "
                f"def {self.name}(prompts, completions, **columns)"
            )
        self._fn = fn

    def score(self, prompts: Sequence[Text], completions: Sequence[Text], **columns: Any) -> object:
        return self._fn(prompts=prompts, completions=completions, **columns)


class _Sum(BaseReward):
    """A weighted sum; a reward that does not apply adds nothing, and None is the sum of none."""

    name = "compose"
    reads: ClassVar[Reads] = "messages"

    def __init__(self, rewards: Sequence[BaseReward], weights: Sequence[float]) -> None:
        self._rewards = rewards
        self._weights = weights

    def score(
        self, prompts: Sequence[Text], completions: Sequence[Text], **columns: Any
    ) -> list[float | None]:
        parts = [reward(prompts, completions, **columns) for reward in self._rewards]
        return [self._sum(row) for row in zip(*parts, strict=True)]

    def _sum(self, row: Sequence[float | None]) -> float | None:
        pairs = zip(self._weights, row, strict=True)
        weighted = [weight * value for weight, value in pairs if value is not None]
        return sum(weighted) if weighted else None


def _repeated(words: Sequence[str], n: int) -> float:
    """The share of n-grams that are not the first of their kind; 0 where there are none."""
    grams = [tuple(words[start : start + n]) for start in range(len(words) - n + 1)]
    return 1 - len(set(grams)) / len(grams) if grams else 0.0


def _takes(function: Callable[..., Any], *keywords: str) -> bool:
    """Whether a function can be called with these keywords; it may have more with defaults."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # of a built-in, which does not tell
        return True
    parameters = signature.parameters.values()
    if any(each.kind is each.VAR_KEYWORD for each in parameters):
        return True
    by_name = {each.name for each in parameters if each.kind is not each.POSITIONAL_ONLY}
    return by_name.issuperset(keywords)
