"""What a task of users' own brings to its environment: a state to begin with, and checks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import Parameter, signature
from pathlib import Path
from typing import Final

from drl.domains.own.modules import LoadingError, load_function
from drl.types import JSON

CHECK: Final = "check"
"""In `Goal.details`: the reference of the check that decides the goal."""

SEES: Final = ("state", "calls")
"""What a check may ask for, by the names of its parameters."""


@dataclass(frozen=True, slots=True)
class Check:
    """A function of users that says whether a goal is reached: a truth value or a number in [0, 1].

    `sees` are its parameters: `state` is the environment's state, `calls` a list of what was
    called so far, each {"name", "arguments", "value"}.
    """

    reference: str
    function: Callable[..., object]
    sees: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class OwnWorld:
    """What `Task.world` holds for tasks of users' own.

    `where` is the file and line of the task, for messages. `checks` go by their reference.
    """

    where: str
    state: JSON
    checks: Mapping[str, Check]


def load_check(reference: str, folder: Path) -> Check:
    """The check behind `path.py:function` (relative to `folder`) or `package.module:function`.

    Raises:
        LoadingError: it cannot be loaded, or is no function of `state` and `calls`.
    """
    function = load_function(reference, folder)
    parameters = signature(function).parameters
    sees = tuple(parameters)
    plain = all(p.kind is Parameter.POSITIONAL_OR_KEYWORD for p in parameters.values())
    if not sees or not set(sees) <= set(SEES) or not plain:
        raise LoadingError(
            f"a check takes `state`, `calls` or both, but this one takes ({', '.join(sees)})"
        )
    return Check(reference, function, sees)
