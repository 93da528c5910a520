"""The lines of a JSONL file of tasks, read and held against their form."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple, NoReturn, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

from drl.dataset._lines import objects
from drl.errors import DataError

_Text = Annotated[str, Field(min_length=1)]
_Object = dict[str, Any]

_FORMS = {
    "id": "a text that no other task has",
    "instructions": "a list of sentences, what the customer is told",
    "goals": 'a list of {"name", "arguments"} (a call that is expected) or {"check"} '
    "(path.py:function); it may be empty",
    "wishes": 'a list of {"domain", "constraints", "booking", "requests", ...}, all of them texts',
    "human_turns": "a list of texts, what user_simulator=script says",
    "split": "a text such as train or test",
    "state": "any JSON, what the environment begins with",
}
"""What each field of a task is, as complaints say it."""


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class CallForm(_Form):
    """A tool and its arguments."""

    name: _Text
    arguments: _Object = {}


class GoalForm(_Form):
    """An expected call, or a check that decides. `example` is a call that satisfies the check."""

    name: _Text | None = None
    arguments: _Object = {}
    check: _Text | None = None
    example: CallForm | None = None
    domain: _Text | None = None

    @model_validator(mode="after")
    def _is_one_of_both(self) -> Self:
        if (self.name is None) == (self.check is None):
            raise ValueError("it needs either a name or a check")
        if self.check is not None and self.arguments:
            raise ValueError("a check has no arguments; a call that satisfies it goes into example")
        if self.check is None and self.example is not None:
            raise ValueError("only a check has an example")
        return self


class WishForm(_Form):
    """What the agenda customer wants in one domain (`drl.types.Wish`)."""

    domain: _Text
    constraints: dict[str, str] = {}
    first_constraints: dict[str, str] = {}
    booking: dict[str, str] = {}
    first_booking: dict[str, str] = {}
    requests: list[_Text] = []


class TaskForm(_Form):
    """One line of the file."""

    id: _Text
    instructions: Annotated[list[_Text], Field(min_length=1)]
    goals: list[GoalForm]
    wishes: list[WishForm] = []
    human_turns: list[_Text] = []
    split: _Text = "test"
    state: Any = None


class TaskLine(NamedTuple):
    """A task and where it stands, as `file:line`."""

    where: str
    task: TaskForm


def read(path: Path) -> Sequence[TaskLine]:
    """All tasks of a file, in its order. A byte order mark, CRLF and blank lines do no harm.

    Raises:
        DataError: the file cannot be read, holds no task or one id twice, or a line is no task.
    """
    lines: list[TaskLine] = []
    first: dict[str, str] = {}
    for where, line in objects(path, "task"):
        task = _task(where, line)
        if task.id in first:
            raise DataError(
                f"{where}: id {task.id} is taken by {first[task.id]}; every task needs its own"
            )
        first[task.id] = where
        lines.append(TaskLine(where, task))
    if not lines:
        raise DataError(f"{path}: holds no task; write one JSON object a line")
    return lines


def _task(where: str, read: dict[str, Any]) -> TaskForm:
    try:
        return TaskForm.model_validate(read)
    except ValidationError as error:
        _complain(where, error.errors())


def _complain(where: str, errors: Sequence[ErrorDetails]) -> NoReturn:
    """Say what is wrong with a line: unknown keys all at once, else the first thing."""
    unknown = [_path(e["loc"]) for e in errors if e["type"] == "extra_forbidden"]
    if unknown:
        keys = f"known keys: {', '.join(_FORMS)}" if "." not in unknown[0] else _form(unknown[0])
        raise DataError(f"{where}: {', '.join(unknown)} not known; {keys}")
    first = errors[0]
    path = _path(first["loc"])
    if first["type"] == "missing":
        raise DataError(f"{where}: {path} is missing; {_form(path)}")
    reason = first["msg"].removeprefix("Value error, ")
    raise DataError(f"{where}: {path}: {reason[0].lower()}{reason[1:]}; {_form(path)}")


def _form(path: str) -> str:
    field = path.partition(".")[0]
    return f"{field} is {_FORMS[field]}"


def _path(loc: tuple[int | str, ...]) -> str:
    return ".".join(map(str, loc))
