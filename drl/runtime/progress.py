"""How far long work is, on standard error: a bar on a terminal, else a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

_EVERY_S = 30.0
"""From one line to the next, so that a log of hours stays readable and short work says nothing."""


class ProgressBar:
    """Counts finished pieces of one piece of work; `lines` hears of them where nobody sees bars."""

    def __init__(self, progress: Progress, task: TaskID, lines: ProgressLines | None) -> None:
        self._progress = progress
        self._task = task
        self._lines = lines

    def advance(self, count: int = 1, note: str = "") -> None:
        """So many more are finished; `note` is shown beside the bar."""
        self._progress.update(self._task, advance=count, note=note)
        self._tell()

    def reach(self, done: int, total: int) -> None:
        """So many of so many are finished."""
        self._progress.update(self._task, completed=done, total=total)
        self._tell()

    def _tell(self) -> None:
        if self._lines is not None:
            task = self._progress.tasks[self._progress.task_ids.index(self._task)]
            self._lines.tell(f"{task.description}: {task.completed:.0f} of {task.total:.0f}")


class ProgressLines:
    """Lets a line through when the last one, or the beginning, was long enough ago."""

    def __init__(self, write: Callable[[str], None], clock: Callable[[], float]) -> None:
        self._write = write
        self._clock = clock
        self._begun = self._last = clock()

    def tell(self, text: str) -> None:
        """How far it is, if it is time to say so."""
        now = self._clock()
        if now - self._last >= _EVERY_S:
            self._last = now
            self._write(f"{text} after {timedelta(seconds=round(now - self._begun))}")


def announce(text: str) -> None:
    """Say what begins now and may take long."""
    Console(stderr=True, highlight=False, soft_wrap=True).print(text, markup=False)


@contextmanager
def progress_bar(title: str, total: int, done: int = 0) -> Iterator[ProgressBar]:
    """A bar where standard error is a terminal; else lines, none of work that is soon over."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("[dim]{task.fields[note]}"),
    )
    console = Console(stderr=True)
    is_seen = sys.stderr.isatty()
    lines = None if is_seen else ProgressLines(announce, time.monotonic)
    with Progress(*columns, console=console, disable=not is_seen) as progress:
        task = progress.add_task(title, total=total, completed=done, note="")
        yield ProgressBar(progress, task, lines)
