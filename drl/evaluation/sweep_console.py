"""The runs of a sweep side by side, as a table on the terminal."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from drl.evaluation.comparison import HEADLINE
from drl.evaluation.console import cells
from drl.evaluation.measure import words_of
from drl.types import JSON


@dataclass(frozen=True, slots=True)
class SweptRun:
    """A job of a sweep: what was said for it, where it lies, and what came of it."""

    overrides: Sequence[str]
    folder: Path
    summary: Mapping[str, JSON]


def print_sweep(runs: Sequence[SweptRun]) -> None:
    """A row for each run, by what it does not share with all others; then how to compare them."""
    shared = set.intersection(*(set(run.overrides) for run in runs))
    table = Table("sweep", show_edge=False)
    for column in (*(words_of(name) for name in HEADLINE), "run"):
        table.add_column(column, justify="right")
    for run in runs:
        own = [override for override in run.overrides if override not in shared]
        numbers = [" ".join(cells(run.summary.get(name))) for name in HEADLINE]
        table.add_row(" ".join(own) or "as it is", *numbers, run.folder.name)
    console = Console(highlight=False, soft_wrap=True)
    console.print()
    Console(highlight=False).print(table)
    drl, *folders = map(
        _from_here, (Path(sys.executable).with_name("drl"), *(r.folder for r in runs))
    )
    console.print(f"Task by task: {drl} compare {' '.join(folders)}", markup=False)


def _from_here(path: Path) -> str:
    """A path as one would type it."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
