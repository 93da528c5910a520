"""Asking again what failed for a reason that may pass, and giving up with an account of it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from random import Random
from typing import Final, Generic, NamedTuple, TypeVar

from drl.errors import ConfigError
from drl.llm.base import OutageError

LONGEST_PAUSE_S: Final = 60.0
"""Back-off doubles up to this."""

LONGEST_ASKED_WAIT_S: Final = 120.0
"""A server that wants a longer wait than this is not waited for, as in OpenAI's own client."""

FIRST_CONTACT_ATTEMPTS: Final = 3
FIRST_CONTACT_S: Final = 2.5
"""A server that was never reached is given up after so many attempts or seconds."""

_FIRST_CONTACT_PAUSE_S: Final = 0.3
_QUIET_S: Final = 10.0
"""Between two lines in the log on the same matter."""

_LOG = logging.getLogger(__name__)
_Answer = TypeVar("_Answer")


class Trouble(Exception):
    """One attempt failed for a reason that may pass; never leaves this package.

    `what` is for the account, `wait_s` what the server asked for. `refused` says that the server
    had too much to do, `unreachable` that nobody answered the door.
    """

    def __init__(
        self,
        what: str,
        *,
        wait_s: float | None = None,
        refused: bool = False,
        unreachable: bool = False,
    ) -> None:
        super().__init__(what)
        self.what = what
        self.wait_s = wait_s
        self.refused = refused
        self.unreachable = unreachable


class Persisted(NamedTuple, Generic[_Answer]):
    """An answer and how often it had to be asked for again."""

    answer: _Answer
    retries: int


@dataclass(frozen=True)
class Patience:
    """How long to go on asking: attempts in all, and the pause after the first that fails.

    The pause doubles with each attempt and is drawn from its upper half, so that calls that failed
    together do not come back together.
    """

    max_attempts: int
    retry_s: float

    def __post_init__(self) -> None:
        """Check the settings."""
        if self.max_attempts < 1:
            raise ConfigError(f"llm.max_attempts={self.max_attempts} must be at least 1; raise it")
        if not 0 < self.retry_s <= LONGEST_PAUSE_S:
            raise ConfigError(
                f"llm.retry_s={self.retry_s} must lie in (0, {LONGEST_PAUSE_S:g}] seconds; "
                "1 suits most servers"
            )

    def pause_s(self, attempt: int, trouble: Trouble, luck: Random) -> float:
        """Seconds between attempt number `attempt`, counted from 1, and the next."""
        if trouble.wait_s is not None:
            return trouble.wait_s * luck.uniform(1.0, 1.25)
        doubled = self.retry_s * 2.0 ** min(attempt - 1, 30)
        return min(doubled, LONGEST_PAUSE_S) * luck.uniform(0.5, 1.0)


class Persistence:
    """Asks until an answer comes or patience ends; remembers whether the server was ever reached.

    Args:
        name: says what is asked, for messages.
        patience: how long to go on.
    """

    def __init__(self, name: Callable[[], str], patience: Patience) -> None:
        self._name = name
        self._patience = patience
        self._was_reached = False
        self._spoke_at = float("-inf")

    async def ask(
        self, attempt: Callable[[int], Awaitable[_Answer]], luck: Random
    ) -> Persisted[_Answer]:
        """The answer of the first attempt that succeeds.

        Args:
            attempt: makes attempt number 1, 2, ...
            luck: draws the pauses.

        Raises:
            OutageError: none did; says what was seen and how often.
        """
        started = time.monotonic()
        seen: Counter[str] = Counter()
        while True:
            try:
                answer = await attempt(seen.total() + 1)
            except Trouble as trouble:
                seen[trouble.what] += 1
                self._was_reached |= not trouble.unreachable
                pause_s = self._pause_s(seen.total(), trouble, time.monotonic() - started, luck)
                if pause_s is None:
                    failure = self._give_up(seen, time.monotonic() - started)
                    break
                self._speak(trouble, pause_s)
                # the trouble is forgotten before the pause: its traceback holds the whole request
            else:
                self._was_reached = True
                return Persisted(answer, retries=seen.total())
            await asyncio.sleep(pause_s)
        raise failure  # outside of the handler, so that no cause with headers hangs on it

    def _pause_s(
        self, attempts: int, trouble: Trouble, elapsed_s: float, luck: Random
    ) -> float | None:
        """Seconds until the next attempt; None: there is none."""
        if attempts >= self._patience.max_attempts:
            return None
        if trouble.unreachable and not self._was_reached:
            is_over = attempts >= FIRST_CONTACT_ATTEMPTS or elapsed_s > FIRST_CONTACT_S
            return None if is_over else _FIRST_CONTACT_PAUSE_S * attempts
        if trouble.wait_s is not None and trouble.wait_s > LONGEST_ASKED_WAIT_S:
            return None
        return self._patience.pause_s(attempts, trouble, luck)

    def _give_up(self, seen: Counter[str], elapsed_s: float) -> OutageError:
        account = ", ".join(
            what if times == 1 else f"{what} ({times} times)" for what, times in seen.most_common()
        )
        remedy = (
            "or raise llm.max_attempts"
            if self._was_reached or seen.total() >= self._patience.max_attempts
            else "and whether llm.base_url is right"
        )
        outage = OutageError(
            f"{self._name()}: given up after {_count(seen.total(), 'attempt')} in "
            f"{elapsed_s:.1f} s: {account}; see whether the server runs, {remedy}"
        )
        outage.retries = seen.total() - 1
        return outage

    def _speak(self, trouble: Trouble, pause_s: float) -> None:
        if time.monotonic() - self._spoke_at >= _QUIET_S:
            self._spoke_at = time.monotonic()
            _LOG.warning("%s: %s; asking again in %.1f s", self._name(), trouble.what, pause_s)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
