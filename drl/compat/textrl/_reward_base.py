"""What a reward of TextRL is: a call with prompts and completions that gives a number for each."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

from drl.errors import ConfigError, DrlError

Message: TypeAlias = Mapping[str, Any]
Text: TypeAlias = str | Sequence[Message]
"""A plain text, or a chat: what datasets hold and TRL hands on."""

Reads: TypeAlias = Literal["text", "messages"]
_SHOWN = 200


class RewardFn(Protocol):
    """A call that rewards completions: one number for each, or None where it does not apply.

    `columns` are those of the dataset beside the prompt, and what TRL adds.
    """

    def __call__(
        self, prompts: Sequence[Any], completions: Sequence[Any], **columns: Any
    ) -> Sequence[float | None]:
        """Rewards in the order of the completions."""
        ...


def text_of(text: Text) -> str:
    """A text as it is; the contents of a chat's messages, one under the other."""
    if isinstance(text, str):
        return text
    return "\n".join(_content(message) for message in text)


class BaseReward(ABC):
    """A reward that keeps something between calls; write `score`, and call the object.

    `score` gets texts, also where the dataset holds chats, unless `reads` is messages: then it
    gets what the dataset holds. What it gives is checked: as many numbers as completions, each
    finite, or None where the reward does not apply. `name` is that in the logs.
    """

    name: str = "reward"
    reads: ClassVar[Reads] = "text"

    @abstractmethod
    def score(self, prompts: Sequence[Any], completions: Sequence[Any], **columns: Any) -> object:
        """A sequence or tensor of rewards, in the order of the completions."""

    def __call__(
        self, prompts: Sequence[Text], completions: Sequence[Text], **columns: Any
    ) -> list[float | None]:
        """The checked rewards.

        Raises:
            ConfigError: `score` failed, or gave something else than numbers for all.
        """
        shown = self._shown
        try:
            given = self.score(
                [shown(prompt) for prompt in prompts],
                [shown(completion) for completion in completions],
                **columns,
            )
        except DrlError:  # of a reward inside this one, which has said it all
            raise
        except Exception as error:  # whatever a user's function may raise
            raise ConfigError(
                f"reward {self.name} raised {type(error).__name__}: {error}; "
                f"{_at(prompts, completions, None)}; mend the function"
            ) from error
        return self._checked(given, prompts, completions)

    def _shown(self, text: Text) -> Any:
        return text if self.reads == "messages" else text_of(text)

    def _checked(
        self, given: object, prompts: Sequence[Text], completions: Sequence[Text]
    ) -> list[float | None]:
        number = len(completions)
        if not isinstance(given, Iterable):
            raise ConfigError(
                f"reward {self.name} gave {given!r}; give a list of {number} numbers, one for "
                "each completion"
            )
        values = list(given)
        if len(values) != number:
            raise ConfigError(
                f"reward {self.name} gave {len(values)} values for {number} completions; give "
                "one for each"
            )
        return [
            self._number(value, _at(prompts, completions, row)) for row, value in enumerate(values)
        ]

    def _number(self, value: Any, where: str) -> float | None:
        if value is None:
            return None
        try:
            number = float(value)
        except (TypeError, ValueError, RuntimeError) as error:  # torch raises the last
            raise ConfigError(
                f"reward {self.name} gave {value!r}, which is no number; {where}; give a float"
            ) from error
        if not math.isfinite(number):
            raise ConfigError(
                f"reward {self.name} gave {number}; {where}; give a finite number, or None where "
                "it does not apply"
            )
        return number


def _content(message: Message) -> str:
    """The text of a message, whose content may be a list of parts."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or ())


def _at(prompts: Sequence[Text], completions: Sequence[Text], row: int | None) -> str:
    """Which completion it was; the first of them where a whole batch is meant."""
    if not completions:
        return "there were no completions"
    place = row or 0
    which = f"completion {place}" if row is not None else f"first of {len(completions)}"
    prompt, completion = text_of(prompts[place]), text_of(completions[place])
    return f"{which}: prompt {prompt[-_SHOWN:]!r}, completion {completion[:_SHOWN]!r}"
