"""Runs coroutines that never wait, without an event loop.

The synchronous classes share their logic with the asynchronous ones, and must also work inside
a running event loop (a notebook), where `asyncio.run` is refused.
"""

from collections.abc import Coroutine
from typing import TypeVar

Result = TypeVar("Result")


def finish(coroutine: Coroutine[object, None, Result]) -> Result:
    """What the coroutine returns, run to its end on the spot.

    Raises:
        RuntimeError: it waits for something, and there is no event loop to wait in.
    """
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    coroutine.close()
    raise RuntimeError("a synchronous class was given something that has to be awaited")
