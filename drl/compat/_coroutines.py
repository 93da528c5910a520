"""Runs coroutines for callers who cannot await.

The synchronous classes share their logic with the asynchronous ones, and must also work inside
a running event loop (a notebook), where `asyncio.run` is refused.
"""

import asyncio
import threading
from collections.abc import Coroutine
from functools import cache
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


def wait(coroutine: Coroutine[object, object, Result]) -> Result:
    """What the coroutine returns; it may wait, in an event loop that runs in a thread of its own.

    One loop serves all calls, so that connections and models outlive them.
    """
    return asyncio.run_coroutine_threadsafe(coroutine, _loop()).result()


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="drl-compat", daemon=True).start()
    return loop
