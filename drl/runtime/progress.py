"""Progress bars for long work: on a terminal only, on standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)


class ProgressBar:
    """Counts finished pieces of one piece of work."""

    def __init__(self, progress: Progress, task: int) -> None:
        self._progress = progress
        self._task = task

    def advance(self, count: int = 1, note: str = "") -> None:
        """So many more are finished; `note` is shown beside the bar."""
        self._progress.update(self._task, advance=count, note=note)  # pyright: ignore[reportArgumentType]

    def reach(self, done: int, total: int) -> None:
        """So many of so many are finished."""
        self._progress.update(self._task, completed=done, total=total)  # pyright: ignore[reportArgumentType]


@contextmanager
def progress_bar(title: str, total: int, done: int = 0) -> Iterator[ProgressBar]:
    """A bar that stays silent when standard error is not a terminal."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("[dim]{task.fields[note]}"),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not sys.stderr.isatty()) as progress:
        yield ProgressBar(progress, progress.add_task(title, total=total, completed=done, note=""))
