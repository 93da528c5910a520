"""Connections to MCP servers, on an event loop in a thread of their own.

So they outlive the loops of those who call, and stay in the tasks that entered them. No more than
`max_servers` are open; where a lost one can be made again, the one that was idle longest makes way.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from threading import Thread, current_thread
from typing import Any, TypeVar

from drl.environment._mcp_connection import Connection, Server

_CLOSING_S = 5.0
"""How long the end of a run waits for servers to end."""

_Result = TypeVar("_Result")


class BackgroundLoop:
    """An event loop in a daemon thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._run, name="drl-mcp", daemon=True)
        self._thread.start()

    def submit(self, work: Coroutine[Any, Any, _Result]) -> Future[_Result]:
        """Run something there; the future can be awaited or waited for in any other thread."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def post(self, function: Callable[[Connection], None], connection: Connection) -> None:
        """Call something there soon; nothing if the loop has ended."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(function, connection)

    def finish(self, last: Coroutine[Any, Any, None]) -> None:
        """Run one last thing, then end; waits for both, if another thread asks."""

        async def end() -> None:
            await last
            self._loop.stop()

        self.submit(end())
        if current_thread() is not self._thread:
            self._thread.join(2 * _CLOSING_S)

    def _run(self) -> None:
        self._loop.run_forever()
        self._loop.close()


class Lease:
    """A connection on loan, and how many calls it has carried out for those who hold it.

    When the last holder drops it, the connection ends.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.num_calls = 0


class Pool:
    """All connections to one server. Its methods run on the background loop."""

    def __init__(self, server: Server, loop: BackgroundLoop, max_servers: int) -> None:
        self._server = server
        self._loop = loop
        self._max_servers = max_servers
        self._open: dict[Connection, None] = {}  # the one that was used last comes last
        self._busy: set[Connection] = set()
        self._room = asyncio.Event()

    async def lease(self, *, may_replace: bool, stateless: bool) -> Lease:
        """A new connection, in use; waits for room.

        `may_replace` ends the one that was idle longest, whose holders have to begin anew.
        """
        while len(self._open) >= self._max_servers:
            idle = next((c for c in self._open if c not in self._busy), None)
            if idle is not None and may_replace:
                self._end(idle)
            else:
                self._room.clear()
                await self._room.wait()
        lease = Lease(Connection(self._server, stateless=stateless))
        weakref.finalize(lease, self._loop.post, self._end, lease.connection).atexit = False
        self.use(lease)
        return lease

    def use(self, lease: Lease) -> None:
        """While in use it makes way for nobody."""
        self._busy.add(lease.connection)
        self._open.pop(lease.connection, None)
        self._open[lease.connection] = None

    def rest(self, lease: Lease, *, lost: bool) -> None:
        """It is idle again, or `lost`: nobody can go on with it."""
        self._busy.discard(lease.connection)
        self._room.set()
        if lost:
            self._end(lease.connection)

    async def close(self) -> None:
        """End all connections, and wait a while for it."""
        connections = list(self._open)
        for connection in connections:
            self._end(connection)
        ends = [asyncio.ensure_future(connection.closed()) for connection in connections]
        if ends:
            await asyncio.wait(ends, timeout=_CLOSING_S)

    def _end(self, connection: Connection) -> None:
        self._open.pop(connection, None)
        self._busy.discard(connection)
        self._room.set()
        connection.close()
