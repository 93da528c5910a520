"""Workers that take one job after the other; what breaks in a job costs that job only."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import TypeVar

from drl.errors import DrlError, RunError
from drl.llm.base import OutageError
from drl.types import Failure

MAX_OUTAGES = 5
"""Jobs in a row that a run loses to outages before it stops."""

OUTAGE = "llm"
"""The stage of a failure that says nothing but that a model was out."""

_LOG = logging.getLogger(__name__)
_Job = TypeVar("_Job")
_Result = TypeVar("_Result")


async def work_through(
    jobs: Iterable[_Job], do: Callable[[_Job], Awaitable[Failure | None]], num_workers: int
) -> None:
    """Do all jobs, so many at a time; `do` tells what broke a job, if that ended it at once.

    Raises:
        RunError: so many jobs in a row were lost to outages that going on is vain.
    """
    queue = iter(jobs)
    lost_in_a_row = 0

    async def work(rest: Iterator[_Job]) -> None:
        nonlocal lost_in_a_row
        for job in rest:
            failure = await do(job)
            is_lost = failure is not None and failure.stage == OUTAGE
            lost_in_a_row = lost_in_a_row + 1 if is_lost else 0
            if failure is not None and lost_in_a_row == MAX_OUTAGES:
                raise RunError(
                    f"{MAX_OUTAGES} dialogues in a row were lost to outages, the last so: "
                    f"{failure.cause}; what is finished is kept: start the same command again when "
                    "the model answers"
                )

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(num_workers):
                group.create_task(work(queue))
    except ExceptionGroup as failed:
        first = failed.exceptions[0]
        raise first from first.__cause__


async def attempt(work: Awaitable[_Result], stage: str) -> _Result | Failure:
    """What came of some work, or how it broke outside a participant's move."""
    try:
        return await work
    except OutageError as error:
        return failure_of(OUTAGE, error)
    except DrlError:
        raise
    except asyncio.CancelledError as error:
        worker = asyncio.current_task()
        if worker is None or worker.cancelling():
            raise
        return failure_of(stage, error)  # nobody cancelled this: a library let it leak
    except Exception as error:
        return failure_of(stage, error)


def failure_of(stage: str, error: BaseException) -> Failure:
    """An error as data; the traceback of a fault in the code goes to the log."""
    failure = Failure(stage, f"{type(error).__name__}: {error}")
    fault = None if isinstance(error, DrlError) else error
    _LOG.warning("a dialogue broke (%s): %s", stage, failure.cause, exc_info=fault)
    return failure
