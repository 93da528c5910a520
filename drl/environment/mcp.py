"""Tools of an MCP server (Model Context Protocol), started by a command or reached by a URL.

The state lives in the server, so a fork cannot share it in O(1). `on_fork` says what is done:

- `replay`: every branch has a server of its own. A fork costs nothing until its first call; then
  the first of the siblings goes on with the server at hand, and each other one has the calls of
  its branch repeated in a fresh server. A server that answers differently then is found out, and
  the dialogue breaks. Over a URL this needs a server that keeps its state per session.
- `share`: one server serves all dialogues. Right only where no tool changes anything.
- `refuse`: a server for each dialogue, and nothing is ever repeated; a search is refused.

`setup_tool` names a tool that is hidden from agents and called first in every fresh server, with
the task's `state`. A call that is not answered in time is an error for the agent; its server is
given up for a fresh one (`replay`), kept (`share`), or the dialogue breaks (`refuse`). A server
that is gone breaks the dialogue. Checks see the calls, not the state. A run does not notice when
the server's own code changes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from importlib.util import find_spec

from drl.domains.own.plain import to_plain
from drl.domains.own.world import OwnWorld
from drl.environment._mcp_connection import Server, ServerDownError
from drl.environment._mcp_desk import KEY, Desk, Line, OnFork, Rules
from drl.environment._own_goals import Done, OwnGoals, own_world, refusal
from drl.environment._tools import BadCallError, CompareTexts
from drl.environment.base import Environment, Mode, Session
from drl.errors import ConfigError, DataError
from drl.types import Goal, Task, Toolbox, ToolCall, ToolResult


class McpSession(Session):
    """One branch: what its server was sent so far."""

    def __init__(
        self, environment: McpEnvironment, world: OwnWorld, line: Line, done: tuple[Done, ...]
    ) -> None:
        self._environment = environment
        self._world = world
        self._line = line
        self._done = done

    @property
    def toolbox(self) -> Toolbox:
        """The server's tools, but for the one that sets it up; one object for all sessions."""
        return self._environment.desk.toolset.toolbox

    async def call(self, call: ToolCall) -> ToolResult:
        """What the server gave; an error if it refused, did not answer or gave no JSON.

        Raises:
            ServerDownError, RepetitionError, NoAnswerError: nobody can go on from here.
            CheckError: a check of the task broke.
        """
        environment = self._environment
        try:
            arguments = environment.desk.toolset.read(call)
        except BadCallError as error:
            return refusal(error)
        result = await environment.desk.call(self._line, call.name, arguments)
        if result.error is not None:
            return result
        self._done += (Done(call, result.value),)
        held = await environment.goals.fulfilled(self._world, None, self._done, wrote=True)
        return ToolResult(result.value, fulfilled=held)

    def fork(self) -> McpSession:
        """A session with the same past; its first call brings a server there.

        Raises:
            ConfigError: forks are refused.
        """
        environment = self._environment
        if environment.on_fork == "refuse":
            raise ConfigError(
                "environment.on_fork=refuse: a search forks the state, which this server keeps to "
                "itself; use rollout=single or best_of_n, or on_fork=replay"
            )
        return McpSession(environment, self._world, self._line.fork(), self._done)

    def digest(self) -> str:
        """A hash of the calls that the server was sent: the state itself is out of sight."""
        sent = [[name, to_plain(arguments)] for name, arguments, _ in self._line.sent]
        return sha256(json.dumps(sent, sort_keys=True).encode()).hexdigest()


@dataclass(kw_only=True)
class McpEnvironment(Environment):
    """Serves the tools of one MCP server; it is reached when the first session opens."""

    server: str
    setup_tool: str | None
    on_fork: OnFork
    timeout_s: float
    start_timeout_s: float
    max_servers: int
    variables: list[str]
    compare_texts: CompareTexts

    def __post_init__(self) -> None:
        """Check the settings, and that the client is installed."""
        for key in ("timeout_s", "start_timeout_s", "max_servers"):
            value = vars(self)[key]
            if value <= 0:
                raise ConfigError(f"environment.{key}={value} must be positive; raise it")
        if not self.server.strip():
            raise ConfigError(f"{KEY} is empty; name a command, or a URL that begins with http")
        if self.on_fork == "share" and self.setup_tool is not None:
            raise ConfigError(
                f"environment.setup_tool={self.setup_tool} would set up the one server that all "
                "dialogues share, again and again; use on_fork=replay, or setup_tool=null"
            )
        if find_spec("mcp") is None:
            raise ConfigError(
                "environment=mcp needs the package mcp, which is not installed; run: "
                "pip install 'drl[mcp]'"
            )

    @property
    def mode(self) -> Mode:
        """Users' own tools are taken as they are."""
        return "faithful"

    @property
    def version(self) -> str:
        """Unknown: a server does not say what its tools are made of."""
        return ""

    def open(self, task: Task) -> McpSession:
        """A session that has called nothing yet; the first one waits for the server's tools.

        Raises:
            ConfigError: the task is not of users' own, or the server cannot be reached.
            DataError: the task has a state that no tool takes, or an impossible goal.
        """
        world = own_world(task, "mcp")
        if world.state is not None and self.setup_tool is None:
            raise DataError(
                f"{world.where}: the task has a state, but nothing hands it to the server; name "
                "the tool that takes it with environment.setup_tool=NAME, or drop the state"
            )
        self.goals.refuse_impossible(task, world, None)
        return McpSession(self, world, Line(world.state), ())

    def achieves(
        self, goal: Goal, call: ToolCall, result: ToolResult, open_goals: Sequence[Goal]
    ) -> bool:
        """Whether the call was carried out and is the expected one, or the goal's check held."""
        return self.goals.achieves(goal, call, result)

    def exact_call(self, goal: Goal) -> ToolCall:
        """The expected call, or the example of a check."""
        return self.goals.exact_call(goal)

    def explain(self, task: Task, goal: Goal, result: ToolResult) -> str:
        """Why the exact call does not reach the goal."""
        return self.goals.explain(goal, result)

    @cached_property
    def desk(self) -> Desk:
        """The server's tools and the connections to it; reached when first asked for.

        Raises:
            ConfigError: it cannot be reached.
        """
        server = Server(self.server, tuple(self.variables), self.start_timeout_s)
        rules = Rules(server, self.setup_tool, self.on_fork, self.timeout_s, self.max_servers)
        try:
            return Desk(rules)
        except ServerDownError as error:
            raise ConfigError(f"{KEY}: {error}; start it by hand to see more") from error

    @cached_property
    def goals(self) -> OwnGoals:
        """What judges calls."""
        return OwnGoals(self.desk.toolset, self.compare_texts, self.timeout_s, has_state=False)
