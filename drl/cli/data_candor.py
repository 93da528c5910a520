"""`drl data candor_synthetic`: generated conversations in CANDOR's layout."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from drl.domains.candor.synthetic.settings import Length, Settings, Signal


def candor_synthetic(
    root: Annotated[
        Path, typer.Option("--root", help="A new folder for them, for dataset.root to point at.")
    ],
    conversations: Annotated[
        int, typer.Option("--conversations", min=4, help="How many; a fifth of them is held out.")
    ] = Settings.conversations,
    seed: Annotated[int, typer.Option("--seed", min=0)] = Settings.seed,
    length: Annotated[
        Length, typer.Option("--length", help="short: 24-40 turns; long: about 160, as in CANDOR.")
    ] = Settings.length,
    signal: Annotated[
        Signal, typer.Option("--signal", help="Controls: where no trace of the reward is left.")
    ] = Settings.signal,
) -> None:
    """Generated conversations with known turn rewards, laid out as CANDOR is.

    They show whether a method finds what was hidden in them, and nothing about real people.
    """
    from drl.domains.candor.synthetic.write import generate, is_there

    settings = Settings(conversations=conversations, seed=seed, length=length, signal=signal)
    was_there = is_there(settings, root)
    console = Console(stderr=True)
    with Progress(console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("generating conversations", total=conversations)
        folder = generate(settings, root, lambda count: progress.advance(task, count))
    there = " (they were there already)" if was_there else ""
    held_out = f"{settings.held_out} of them held out"
    print(f"{conversations} generated conversations, {held_out}, are in {folder}{there}")
