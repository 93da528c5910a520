"""A limit on what is in flight that follows the server: halved when it says no, then grown again.

Additive increase, multiplicative decrease (Chiu and Jain 1989), as TCP does it. One object serves
one event loop.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

GROWTH = 8
"""Places gained while as many calls succeed as are in flight; after a cut in half, a limit of 128
is whole again after some 800 successes."""


class AdaptiveLimit:
    """Places for calls; whoever finds none waits in line, however long the line is.

    Args:
        most: places at the start, and never more.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._places = float(most)
        self._taken = 0
        self._line: deque[asyncio.Future[None]] = deque()
        self._last_cut = float("-inf")
        self._closed_until = float("-inf")

    @property
    def places(self) -> int:
        """Calls that may be in flight now."""
        return int(self._places)

    @asynccontextmanager
    async def place(self, *, again: bool = False) -> AsyncIterator[float]:
        """A place for one call; gives the time at which it was taken, on the loop's clock.

        Args:
            again: whoever had a place before and comes again waits at the head of the line.
        """
        await self._enter(again)
        try:
            yield asyncio.get_running_loop().time()
        finally:
            self._taken -= 1
            self._admit()

    def succeeded(self) -> None:
        """A call was answered: a little more may be in flight."""
        self._places = min(self._most, self._places + GROWTH / self._places)

    def refused(self, since: float, wait_s: float | None) -> bool:
        """The server said that it is too much; whether the limit was cut.

        Of calls that were in flight together only the first cuts, so a burst counts once.

        Args:
            since: when the refused call took its place.
            wait_s: for how long nobody should ask, if the server said so.
        """
        now = asyncio.get_running_loop().time()
        if wait_s is not None and now + wait_s > self._closed_until:
            self._closed_until = now + wait_s
            asyncio.get_running_loop().call_at(self._closed_until, self._reopen, now + wait_s)
        if since < self._last_cut:
            return False
        self._last_cut = now
        self._places = max(1.0, self._places / 2)
        return True

    async def _enter(self, again: bool) -> None:
        if not self._line and self._is_open():
            self._taken += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        (self._line.appendleft if again else self._line.append)(turn)
        self._admit()  # those before may all have been called away
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # let in and called away in the same tick
                self._taken -= 1
                self._admit()
            raise

    def _admit(self) -> None:
        while self._line and self._is_open():
            turn = self._line.popleft()
            if not turn.done():
                turn.set_result(None)
                self._taken += 1

    def _reopen(self, at: float) -> None:
        if at >= self._closed_until:  # else the server has asked for more time since
            self._closed_until = float("-inf")
            self._admit()

    def _is_open(self) -> bool:
        return self._taken < self.places and self._closed_until == float("-inf")
