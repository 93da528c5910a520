"""`drl data tau_bench`: tau-bench's databases, tasks, policies and tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drl.errors import DataError


def tau_bench(
    source: Annotated[
        Path | None,
        typer.Option("--from", help="A josh-train wheel, its folder, or a checkout of tau-bench."),
    ] = None,
    root: Annotated[
        Path, typer.Option("--root", help="Folder for data (data_dir of the config).")
    ] = Path("data"),
) -> None:
    """tau-bench (MIT), from the josh-train 0.1.4 wheel; does nothing when it is there already."""
    from drl.domains.tau.fetch import fetch, is_fetched
    from drl.domains.tau.stored import version

    if source is not None and not source.exists():
        raise DataError(f"--from {source}: there is no such file or folder")
    was_there = is_fetched(root)
    folder = fetch(root, source)
    there = " (it was there already)" if was_there else ""
    print(f"tau-bench is in {folder}{there}; results will name it {version(root, 'tau1')}")
