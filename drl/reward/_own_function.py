"""A user's reward function: loaded, held against its form, and called."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, isawaitable, signature
from pathlib import Path

from drl.domains.own.modules import LoadingError, describe, load_function
from drl.errors import ConfigError
from drl.reward._paid import NoRewardError, events_of
from drl.reward.base import RewardError
from drl.types import JSON, RewardEvent, Task

DIALOGUE = "dialogue"
"""The parameter by which a function asks for all that was said."""

Messages = Sequence[Mapping[str, str]]
"""A dialogue as chat messages: {"role": "user" or "assistant", "content": ...}."""

_FORM = "def reward(prompt, text, **row)"
_QUOTED = 200
"""Characters of a prompt or text that a complaint quotes."""
_NAMED = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)


@dataclass(frozen=True, slots=True)
class OwnFunction:
    """A function of a prompt, a text and columns of the prompt's row.

    `first` are its own names for prompt and text, `others` those of its further parameters with
    whether each has to be given; `takes_any` says whether it takes columns that it does not name.
    """

    reference: str
    function: Callable[..., object]
    first: tuple[str, str]
    others: Mapping[str, bool]
    takes_any: bool

    @property
    def sees_dialogue(self) -> bool:
        """Whether it asks for the whole dialogue."""
        return DIALOGUE in self.others

    async def rewards(self, task: Task, text: str, dialogue: Messages) -> tuple[RewardEvent, ...]:
        """What it pays for a text; those of a plain number bear the function's name.

        Raises:
            RewardError: it broke, or returned no reward; the message quotes prompt and text.
        """
        prompt = prompt_of(task)
        try:
            columns = self._columns(task, prompt)
            if self.sees_dialogue:
                columns[DIALOGUE] = [dict(message) for message in dialogue]
            value = self.function(prompt, text, **columns)
            if isawaitable(value):
                value = await value
            return events_of(value, self.reference.rpartition(":")[2], len(text))
        except NoRewardError as error:
            problem = f"must return numbers, but {error}"
        except _NoColumnError as error:
            problem = str(error)
        except Exception as error:  # users' code may raise anything
            raise RewardError(
                self._complaint(task, prompt, text, f"broke: {describe(error)}")
            ) from error
        raise RewardError(self._complaint(task, prompt, text, problem))

    def _columns(self, task: Task, prompt: str) -> dict[str, object]:
        """The columns that it takes of the task's row."""
        row: Mapping[str, JSON] = task.world if isinstance(task.world, Mapping) else {}
        given: dict[str, object] = {}
        for name, value in row.items():
            if name in self.first:
                if value != prompt:
                    raise _NoColumnError(
                        f"calls a parameter {name} as a key of the row; rename the parameter"
                    )
            elif name != DIALOGUE and (self.takes_any or name in self.others):
                given[name] = value
        for name, is_needed in self.others.items():
            if is_needed and name not in given and name != DIALOGUE:
                raise _NoColumnError(
                    f"asks for {name}, which its row has not, only {', '.join(row) or 'nothing'}"
                )
        return given

    def _complaint(self, task: Task, prompt: str, text: str, problem: str) -> str:
        return (
            f"reward.function={self.reference} {problem}; mend it (task {task.id}, "
            f"prompt {_short(prompt)}, text {_short(text)})"
        )


class _NoColumnError(Exception):
    """A row does not fit the function's parameters."""


def prompt_of(task: Task) -> str:
    """What a task begins with: the first words of its customer, or else its instructions."""
    said = task.brief.human_turns
    return said[0] if said else "\n".join(task.brief.instructions)


def load_reward(reference: str) -> OwnFunction:
    """The function behind `path.py:function` (seen from here) or `package.module:function`.

    Raises:
        ConfigError: it cannot be loaded, or does not take a prompt and a text.
    """
    try:
        function = load_function(reference, Path())
        parameters = list(signature(function).parameters.values())
    except (LoadingError, TypeError, ValueError) as error:  # the latter two of signature
        raise ConfigError(f"reward.function={reference}: {error}") from error
    first = [p.name for p in parameters[:2] if p.kind <= Parameter.POSITIONAL_OR_KEYWORD]
    if len(first) < 2:
        names = ", ".join(str(p) for p in parameters)
        raise ConfigError(
            f"reward.function={reference} takes ({names}), but is given a prompt and a text; write "
            f"it as {_FORM}"
        )
    return OwnFunction(
        reference=reference,
        function=function,
        first=(first[0], first[1]),
        others={p.name: p.default is p.empty for p in parameters[2:] if p.kind in _NAMED},
        takes_any=any(p.kind is Parameter.VAR_KEYWORD for p in parameters),
    )


def _short(text: str) -> str:
    """A text on one line."""
    return repr(text if len(text) <= _QUOTED else f"{text[:_QUOTED]}...")
