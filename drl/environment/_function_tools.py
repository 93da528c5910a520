"""The functions of a module as tools: which of them are, which only read, how the state begins."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable
from dataclasses import dataclass
from functools import partial
from inspect import iscoroutinefunction, isfunction, signature
from pathlib import Path
from types import ModuleType
from typing import cast

from drl.domains.own.modules import LoadingError, load
from drl.environment._running import run, run_async
from drl.environment._signatures import NoToolError, takes_state, tool_of
from drl.environment._tools import Toolset
from drl.errors import ConfigError

INITIAL_STATE = "initial_state"
READ_ONLY = "READ_ONLY"
_KEY = "environment.tools"


@dataclass(frozen=True, slots=True)
class FunctionTool:
    """A function that is a tool; one that `writes` needs a copy of the state for itself."""

    function: Callable[..., object]
    takes_state: bool
    writes: bool

    async def run(self, state: object, arguments: dict[str, object], timeout_s: float) -> object:
        """What it returns.

        Raises:
            CallFailedError: it raised, or did not return in time.
        """
        given = (state,) if self.takes_state else ()
        work = partial(self.function, *given, **arguments)
        if iscoroutinefunction(self.function):
            return await run_async(cast(Callable[[], Awaitable[object]], work), timeout_s)
        return await run(work, timeout_s)


@dataclass(frozen=True, slots=True)
class FunctionTools:
    """The tools of a module, and its function that makes a state of a task's, if it has one."""

    toolset: Toolset
    functions: dict[str, FunctionTool]
    initial_state: Callable[[object], object] | None


def load_tools(reference: str) -> FunctionTools:
    """The tools in a file (seen from the working directory) or module.

    Raises:
        ConfigError: it cannot be loaded, or a function in it cannot be a tool.
    """
    try:
        module = load(reference, Path())
    except LoadingError as error:
        raise ConfigError(f"{_KEY}={reference}: {error}") from error
    functions = dict(_public(module, reference))
    readers = _readers(module, reference, functions)
    tools = []
    for name, function in functions.items():
        try:
            tools.append(tool_of(function))
        except NoToolError as error:
            raise ConfigError(
                f"{_KEY}={reference}: {name} cannot be a tool: {error}; mend it, or begin its name "
                "with _ or leave it out of __all__"
            ) from error
    return FunctionTools(
        toolset=Toolset(f"{_KEY}={reference}", tools),
        functions={
            name: FunctionTool(
                function,
                takes_state=takes_state(function),
                writes=takes_state(function) and name not in readers,
            )
            for name, function in functions.items()
        },
        initial_state=_initial_state(module, reference),
    )


def _public(module: ModuleType, reference: str) -> Iterable[tuple[str, Callable[..., object]]]:
    """The functions that `__all__` names, or all public ones that the module defines."""
    names = vars(module).get("__all__")
    for name in vars(module) if names is None else names:
        value = vars(module).get(name)
        if name == INITIAL_STATE:
            continue
        if isfunction(value):
            own = value.__module__ == module.__name__ and not name.startswith("_")
            if names is not None or own:
                yield name, value
        elif names is not None:
            raise ConfigError(
                f"{_KEY}={reference}: __all__ names {name}, which is no function; take it out"
            )


def _readers(module: ModuleType, reference: str, known: Collection[str]) -> Collection[str]:
    readers = vars(module).get(READ_ONLY, ())
    if isinstance(readers, str) or not isinstance(readers, Collection):
        raise ConfigError(
            f"{_KEY}={reference}: {READ_ONLY} must be a tuple of names of functions, not "
            f"{readers!r:.40}"
        )
    for name in readers:
        if name not in known:
            raise ConfigError(
                f"{_KEY}={reference}: {READ_ONLY} names {name}, which is no tool; tools: "
                f"{', '.join(known)}"
            )
    return readers


def _initial_state(module: ModuleType, reference: str) -> Callable[[object], object] | None:
    make = vars(module).get(INITIAL_STATE)
    if make is None:
        return None
    if not isfunction(make) or iscoroutinefunction(make) or len(signature(make).parameters) != 1:
        raise ConfigError(
            f"{_KEY}={reference}: {INITIAL_STATE} must be a plain function of the task's state"
        )
    return make
