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
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from weakref import WeakSet

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


@dataclass(frozen=True, slots=True)
class _Bench:
    """What all sessions of an environment share; `proven` are readers that did only read."""

    tools: FunctionTools
    goals: OwnGoals
    timeout_s: float
    proven: set[str] = field(default_factory=set)


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
            ConfigError: a function that should only read has written.
        """
        bench = self._bench
        try:
            arguments = bench.tools.toolset.read(call)
            tool = bench.tools.functions[call.name]
            on_trial = tool.takes_state and not tool.writes and call.name not in bench.proven
            state = deepcopy(self._state) if tool.writes or on_trial else self._state
            value = plain.to_plain(await tool.run(state, arguments, bench.timeout_s))
        except BadCallError as error:
            return refusal(error)
        except CallFailedError as error:
            if error.is_mistake:
                _LOG.warning("tool %s: %s", call.name, error.where)
            return refusal(error)
        except NotJsonError as error:
            said = f"{call.name} returned something that is not JSON: {error}"
            _LOG.warning("tool %s", said)
            return refusal(NotJsonError(said))
        if on_trial:
            self._prove(call.name, state)
        self._state = state
        self._done += (Done(call, value),)
        held = await bench.goals.fulfilled(self._world, state, self._done, wrote=tool.writes)
        return ToolResult(value, fulfilled=held)

    def fork(self) -> FunctionsSession:
        """A session with the same state, which the next writing call of either will copy."""
        return FunctionsSession(self._bench, self._world, self._state, self._done)

    def digest(self) -> str:
        """A hash of the state."""
        return plain.digest(self._state)

    def _prove(self, name: str, state: object) -> None:
        """A reader is trusted from now on, if the copy that it was given once is unchanged."""
        if plain.digest(state) != self.digest():
            raise ConfigError(
                f"environment.tools: READ_ONLY names {name}, but it changes the state; take it out"
            )
        self._bench.proven.add(name)


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
        self._possible: WeakSet[OwnWorld] = WeakSet()

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
        state = self._begin(world)
        if world not in self._possible:
            _refuse_unusable(world, state)
            self._bench.goals.refuse_impossible(task, world, state)
            self._possible.add(world)
        return FunctionsSession(self._bench, world, state, ())

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
        """The state of a fresh session."""
        given = deepcopy(world.state)
        make = self._bench.tools.initial_state
        if make is None:
            return {} if given is None else given
        try:
            return run_blocking(partial(make, given), self.timeout_s)
        except CallFailedError as error:
            raise DataError(
                f"{world.where}: {INITIAL_STATE} of {self.tools} refuses the task's state: "
                f"{error.where}; mend either"
            ) from error


def _refuse_unusable(world: OwnWorld, state: object) -> None:
    try:
        plain.digest(state)
        deepcopy(state)
    except Exception as error:  # a copy may fail in any way
        raise DataError(
            f"{world.where}: the state that {INITIAL_STATE} made cannot be copied or hashed: "
            f"{error}; build it of dicts, lists and dataclasses"
        ) from error
