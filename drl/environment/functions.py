"""Tools that are Python functions with type hints, in a file or module of users' own.

Every public function that the module defines is a tool (with `__all__`: those it names). Its JSON
schema comes from its type hints, its description from its docstring (`_signatures`). What it
returns must have a JSON form; what it raises is told to the agent.

State: a function whose first parameter is called `state` is given the state of the dialogue, and
may change it in place. It begins as what `initial_state(task_state)` of the module returns for the
`state` of the task; without that function it is the task's `state` itself ({} if it has none). Any
object will do that `copy.deepcopy` can copy. A call works on a copy that becomes the state only if
the call succeeds, so a call that fails or hangs changes nothing, and siblings in a tree never see
each other's writes. The module may name functions that only read in `READ_ONLY = ("find", ...)`;
they are spared the copy. Variables of the module are shared by all dialogues: keep in them only
what never changes.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import NamedTuple
from weakref import WeakKeyDictionary

from drl.domains.own import plain
from drl.domains.own.modules import LoadingError, content_digest, is_file
from drl.domains.own.plain import NotJsonError
from drl.domains.own.world import OwnWorld
from drl.environment._function_tools import INITIAL_STATE, FunctionTools, load_tools
from drl.environment._own_goals import Done, OwnGoals, own_world, refusal
from drl.environment._running import CallFailedError, run_blocking
from drl.environment._tools import BadCallError, CompareTexts
from drl.environment.base import Environment, Mode, Session
from drl.errors import ConfigError, DataError
from drl.types import Goal, Task, Toolbox, ToolCall, ToolResult

_LOG = logging.getLogger(__name__)


class _Bench(NamedTuple):
    """What all sessions of an environment share."""

    tools: FunctionTools
    goals: OwnGoals
    timeout_s: float


class FunctionsSession(Session):
    """The state along one branch. A state is never changed in place, so forks share it."""

    def __init__(
        self, bench: _Bench, world: OwnWorld, state: object, done: tuple[Done, ...]
    ) -> None:
        self._bench = bench
        self._world = world
        self._state = state
        self._done = done

    @property
    def toolbox(self) -> Toolbox:
        """The functions as tools; one object for all sessions."""
        return self._bench.tools.toolset.toolbox

    async def call(self, call: ToolCall) -> ToolResult:
        """What the function returned; an error if it raised, hung or returned no JSON.

        Raises:
            CheckError: a check of the task broke.
        """
        tools, goals, timeout_s = self._bench
        try:
            arguments = tools.toolset.read(call)
            tool = tools.functions[call.name]
            state = deepcopy(self._state) if tool.writes else self._state
            value = plain.to_plain(await tool.run(state, arguments, timeout_s))
        except BadCallError as error:
            return refusal(error)
        except CallFailedError as error:
            _LOG.info("tool %s: %s", call.name, error.where)
            return refusal(error)
        except NotJsonError as error:
            _LOG.warning("tool %s returned something that is not JSON: %s", call.name, error)
            return refusal(
                NotJsonError(f"{call.name} returned something that is not JSON: {error}")
            )
        self._state = state
        self._done += (Done(call, value),)
        held = await goals.fulfilled(self._world, state, self._done, wrote=tool.writes)
        return ToolResult(value, fulfilled=held)

    def fork(self) -> FunctionsSession:
        """A session with the same state, which the next writing call of either will copy."""
        return FunctionsSession(self._bench, self._world, self._state, self._done)

    def digest(self) -> str:
        """A hash of the state."""
        return plain.digest(self._state)


@dataclass(kw_only=True)
class FunctionsEnvironment(Environment):
    """Serves the functions of a module; construction does not import it yet."""

    tools: str
    timeout_s: float
    compare_texts: CompareTexts

    def __post_init__(self) -> None:
        """Check the settings."""
        if is_file(self.tools) and not Path(self.tools).is_file():
            raise ConfigError(
                f"environment.tools={self.tools} is no file (seen from {Path.cwd()}); name a "
                "Python file or a module"
            )
        if self.timeout_s <= 0:
            raise ConfigError(
                f"environment.timeout_s={self.timeout_s} must be positive; no call could be made"
            )
        self._begun: WeakKeyDictionary[OwnWorld, object] = WeakKeyDictionary()

    @property
    def mode(self) -> Mode:
        """Users' own tools are taken as they are."""
        return "faithful"

    @property
    def version(self) -> str:
        """A hash of the module's file.

        Raises:
            ConfigError: it cannot be found.
        """
        try:
            return f"tools-{content_digest(self.tools, Path())}"
        except LoadingError as error:
            raise ConfigError(f"environment.tools={self.tools}: {error}") from error

    def open(self, task: Task) -> FunctionsSession:
        """A session in the task's state.

        Raises:
            ConfigError: the task is not of users' own, or the tools cannot be loaded.
            DataError: its state cannot be made, or one of its goals cannot be reached by any call.
        """
        world = own_world(task, "functions")
        if world not in self._begun:
            state = self._begin(world)
            self._bench.goals.refuse_impossible(task, world, state)
            self._begun[world] = state
        return FunctionsSession(self._bench, world, self._begun[world], ())

    def achieves(
        self, goal: Goal, call: ToolCall, result: ToolResult, open_goals: Sequence[Goal]
    ) -> bool:
        """Whether the call was carried out and is the expected one, or the goal's check held."""
        return self._bench.goals.achieves(goal, call, result)

    def exact_call(self, goal: Goal) -> ToolCall:
        """The expected call, or the example of a check."""
        return self._bench.goals.exact_call(goal)

    def explain(self, task: Task, goal: Goal, result: ToolResult) -> str:
        """Why the exact call does not reach the goal."""
        return self._bench.goals.explain(goal, result)

    @cached_property
    def _bench(self) -> _Bench:
        tools = load_tools(self.tools)
        goals = OwnGoals(tools.toolset, self.compare_texts, self.timeout_s, has_state=True)
        return _Bench(tools, goals, self.timeout_s)

    def _begin(self, world: OwnWorld) -> object:
        """The state of a fresh session; it can be copied and hashed."""
        given = deepcopy(world.state)
        make = self._bench.tools.initial_state
        try:
            if make is None:
                return {} if given is None else given
            state = run_blocking(partial(make, given), self.timeout_s)
            plain.digest(state)
            deepcopy(state)
        except CallFailedError as error:
            raise DataError(
                f"{world.where}: {INITIAL_STATE} of {self.tools} refuses the task's state: "
                f"{error.where}; mend either"
            ) from error
        except Exception as error:  # a copy may fail in any way
            raise DataError(
                f"{world.where}: the state that {INITIAL_STATE} of {self.tools} made cannot be "
                f"copied or hashed: {error}; build it of dicts, lists and dataclasses"
            ) from error
        return state
