"""Runs users' functions so that none of them can stop the run: with a timeout, errors caught.

A function that is not async runs in a thread of its own. A thread cannot be killed: one that hangs
goes on in the background until the process ends, so what it was given must belong to nobody else.
"""

import asyncio
import contextvars
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from threading import Thread
from typing import TypeVar

from drl.domains.own.modules import describe, message_of

_MISTAKES = (AttributeError, ImportError, NameError, RecursionError, SystemExit, TypeError)
"""What nobody raises on purpose to say no."""

_Result = TypeVar("_Result")


class CallFailedError(Exception):
    """A function that raised, or did not return in time; says which, in words for an agent.

    `where` says more to the function's author, the line that raised; `is_mistake` whether it looks
    like one of theirs rather than a refusal.
    """

    def __init__(self, message: str, where: str = "", *, is_mistake: bool = True) -> None:
        super().__init__(message)
        self.where = where or message
        self.is_mistake = is_mistake


async def run(function: Callable[[], object], timeout_s: float) -> object:
    """What a function returns, from a thread.

    Raises:
        CallFailedError: it raised anything at all, or did not return in time.
    """
    try:
        return await asyncio.wait_for(asyncio.wrap_future(_in_thread(function)), timeout_s)
    except TimeoutError as error:
        raise _late(timeout_s) from error


def run_blocking(function: Callable[[], _Result], timeout_s: float) -> _Result:
    """What a function returns, from a thread, for those who cannot await.

    Raises:
        CallFailedError: as `run`.
    """
    try:
        return _in_thread(function).result(timeout_s)
    except TimeoutError as error:
        raise _late(timeout_s) from error


async def run_async(function: Callable[[], Awaitable[object]], timeout_s: float) -> object:
    """What an async function returns; one that waits without awaiting stops everything.

    Raises:
        CallFailedError: as `run`.
    """

    async def guarded() -> object:
        try:
            return await function()
        except (Exception, SystemExit) as error:
            raise _raised(error) from error

    task = asyncio.ensure_future(guarded())
    try:
        done, _ = await asyncio.wait({task}, timeout=timeout_s)
    finally:
        task.cancel()  # if it is not done; nobody waits for one that refuses to stop
    if not done:
        raise _late(timeout_s)
    if task.cancelled():
        raise CallFailedError("CancelledError: it cancelled itself")
    return task.result()


def _in_thread(function: Callable[[], _Result]) -> Future[_Result]:
    """The function's result to come. The thread is a daemon: it holds up no exit."""
    future: Future[_Result] = Future()
    future.set_running_or_notify_cancel()
    context = contextvars.copy_context()

    def work() -> None:
        try:
            result = context.run(function)
        except BaseException as error:  # even SystemExit ends a tool, not the run
            future.set_exception(_raised(error))
        else:
            future.set_result(result)

    Thread(target=work, name="drl-tool", daemon=True).start()
    return future


def _raised(error: BaseException) -> CallFailedError:
    return CallFailedError(
        message_of(error).encode(errors="replace").decode(),
        describe(error),
        is_mistake=isinstance(error, _MISTAKES),
    )


def _late(timeout_s: float) -> CallFailedError:
    return CallFailedError(f"it did not answer within {timeout_s:g} s")
