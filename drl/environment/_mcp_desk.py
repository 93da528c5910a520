"""What all dialogues with one MCP server share, and how a call gets to the right connection."""

from __future__ import annotations

import weakref
from asyncio import wrap_future
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from drl.environment._mcp_connection import NoAnswerError, Server, ServerDownError
from drl.environment._mcp_pool import BackgroundLoop, Lease, Pool
from drl.environment._mcp_tools import tool_of
from drl.environment._own_goals import refusal
from drl.environment._tools import Toolset
from drl.errors import ConfigError, DialogueError
from drl.types import JSON, ToolResult, ToolSpec

OnFork = Literal["replay", "share", "refuse"]
KEY = "environment.server"


class RepetitionError(DialogueError):
    """A server answered a repeated call differently, so nobody can go on from there."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The settings of the environment that decide how connections are used."""

    server: Server
    setup_tool: str | None
    on_fork: OnFork
    timeout_s: float
    max_servers: int


class Sent(NamedTuple):
    """A call that a server carried out or refused; either may have changed its state."""

    name: str
    arguments: dict[str, object]
    result: ToolResult


class Line:
    """One branch of a dialogue, seen from the server: what it was sent so far, and over what."""

    def __init__(
        self, state: JSON, sent: tuple[Sent, ...] = (), lease: Lease | None = None
    ) -> None:
        self.state = state
        self.sent = sent
        self.lease = lease

    def fork(self) -> Line:
        """A branch with the same past; who calls first goes on with the connection."""
        return Line(self.state, self.sent, self.lease)


class Desk:
    """The tools of a server, and the connections to it; they end with the last who holds the desk.

    Raises:
        ServerDownError: no connection can be made, or the server does not list its tools.
        ConfigError: the setup tool is none of them, or none is left.
    """

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._loop = BackgroundLoop()
        self._pool = Pool(rules.server, self._loop, rules.max_servers)
        self._shared: Lease | None = None
        self._spare: Lease | None = None
        weakref.finalize(self, _shut, self._loop, self._pool)
        specs = self._loop.submit(self._list_tools()).result()
        names = [spec.name for spec in specs]
        if rules.setup_tool is not None and rules.setup_tool not in names:
            raise ConfigError(
                f"environment.setup_tool={rules.setup_tool} is no tool of the server; it has: "
                f"{', '.join(names)}"
            )
        tools = [tool_of(spec) for spec in specs if spec.name != rules.setup_tool]
        self.toolset = Toolset(f"{KEY}={rules.server.address}", tools)

    async def call(self, line: Line, name: str, arguments: dict[str, object]) -> ToolResult:
        """What the server gives to the next call of a line, whose past it has seen.

        Raises:
            ServerDownError, RepetitionError: the line cannot be gone on with.
            NoAnswerError: as above, with `refuse`; else it is an error for the agent.
        """
        return await wrap_future(self._loop.submit(self._exchange(line, name, arguments)))

    async def _exchange(self, line: Line, name: str, arguments: dict[str, object]) -> ToolResult:
        lease = await self._lease_for(line)
        # whoever stops waiting does not know what became of the call; others go on with `share`
        lost = self._rules.on_fork != "share"
        try:
            result = await lease.connection.call(name, arguments, self._rules.timeout_s)
            lost = False
        except ServerDownError:
            lost = True
            raise
        except NoAnswerError as error:
            if self._rules.on_fork == "refuse":
                raise
            return refusal(error)
        finally:
            self._pool.rest(lease, lost=lost)
        line.sent += (Sent(name, arguments, result),)
        return result

    async def _lease_for(self, line: Line) -> Lease:
        """A connection that has carried out the calls of this line and no other; it is in use."""
        if self._rules.on_fork == "share":
            return await self._shared_lease()
        lease = line.lease
        if lease is None or lease.num_calls != len(line.sent) or lease.connection.is_closed:
            lease = await self._new_lease()
            try:
                await self._repeat(line, lease)
            except BaseException:
                self._pool.rest(lease, lost=True)
                raise
            line.lease = lease
        self._pool.use(lease)
        lease.num_calls += 1  # from here on it is of no use to siblings
        return lease

    async def _repeat(self, line: Line, lease: Lease) -> None:
        """Bring a fresh server where the line is: the task's state, then its calls."""
        connection, rules = lease.connection, self._rules
        if line.lease is not None and rules.on_fork == "refuse":
            raise ServerDownError("the server of this dialogue is gone, and nothing is repeated")
        try:
            if rules.setup_tool is not None:
                begun = await connection.call(
                    rules.setup_tool, {"state": line.state}, rules.timeout_s
                )
                if begun.error is not None:
                    raise RepetitionError(f"{rules.setup_tool} refuses the state: {begun.error}")
            for name, arguments, result in line.sent:
                again = await connection.call(name, arguments, rules.timeout_s)
                if again != result:
                    raise RepetitionError(
                        f"the server answered {name} differently when it was repeated for a "
                        "branch; use environment.on_fork=refuse, or share if no tool changes "
                        "anything"
                    )
        except NoAnswerError as error:
            raise ServerDownError(f"{rules.server.address}: {error}") from error
        lease.num_calls = len(line.sent)

    async def _new_lease(self) -> Lease:
        """A connection that nobody has called yet, in use."""
        spare, self._spare = self._spare, None
        if spare is not None and not spare.connection.is_closed:
            self._pool.use(spare)
            return spare
        on_fork = self._rules.on_fork
        return await self._pool.lease(may_replace=on_fork == "replay", stateless=on_fork == "share")

    async def _shared_lease(self) -> Lease:
        """The one connection of `share`; a new one if it was lost."""
        if self._shared is None or self._shared.connection.is_closed:
            self._shared = await self._new_lease()
        self._pool.use(self._shared)
        return self._shared

    async def _list_tools(self) -> Sequence[ToolSpec]:
        """What the server offers; the connection is kept for whoever calls first."""
        lease = await self._new_lease()
        specs = await lease.connection.tools()
        self._pool.rest(lease, lost=False)
        self._spare = lease
        return specs


def _shut(loop: BackgroundLoop, pool: Pool) -> None:
    loop.finish(pool.close())
