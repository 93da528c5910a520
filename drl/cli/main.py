"""The `drl` command: everything around a run. Runs themselves start with `python run.py`."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from drl.cli.certify_user import certify_user
from drl.cli.compare import compare
from drl.cli.convert_reward_head import convert_reward_head
from drl.cli.data_candor import candor_synthetic
from drl.cli.data_tau_bench import tau_bench
from drl.cli.estimate import estimate
from drl.cli.export import export
from drl.cli.import_tau import tau
from drl.cli.matrix import matrix
from drl.cli.merge import merge
from drl.cli.resample import resample
from drl.cli.score import score
from drl.cli.signals import signals
from drl.cli.study import study
from drl.cli.textrl_dump import textrl_dump
from drl.cli.textrl_eval import textrl_eval
from drl.cli.textrl_train import textrl_train
from drl.cli.view import view
from drl.errors import DataError, DrlError
from drl.runtime.extras import missing_packages_named

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)
data = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
app.add_typer(data, name="data", help="Download data sets into a compact local form.")

imports = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
app.add_typer(imports, name="import", help="Take results of others as runs of ours.")

app.command()(certify_user)
app.command()(estimate)
app.command()(export)
app.command()(resample)
app.command()(matrix)
app.command()(compare)
app.command()(merge)
app.command()(score)
app.command()(convert_reward_head)
app.command()(signals)
app.command()(study)
app.command()(textrl_dump)
app.command()(view)
app.command()(textrl_train)
app.command()(textrl_eval)

data.command("candor_synthetic")(candor_synthetic)
data.command("tau_bench")(tau_bench)
imports.command("tau")(tau)

_ROOT = Annotated[Path, typer.Option("--root", help="Folder for data (data_dir of the config).")]


@app.callback()
def _about() -> None:
    """Train dialogue agents by letting them talk to simulated users."""


@data.command("toolwoz")
def data_toolwoz(
    source: Annotated[
        Path | None,
        typer.Option("--from", help="A josh-train wheel, its folder, or its dataset.zip."),
    ] = None,
    root: _ROOT = Path("data"),
) -> None:
    """ToolWOZ, from the josh-train 0.1.4 wheel (MIT); does nothing when it is there already."""
    from drl.domains.toolwoz.fetch import fetch, is_fetched

    if source is not None and not source.exists():
        raise DataError(f"--from {source}: there is no such file or folder")
    was_there = is_fetched(root)
    print(f"ToolWOZ is in {fetch(root, source)}" + (" (it was there already)" if was_there else ""))


@data.command("josh_release")
def data_josh_release(
    source: Annotated[
        Path | None, typer.Option("--from", help="A josh-train wheel, or its folder.")
    ] = None,
    root: _ROOT = Path("data"),
) -> None:
    """The 926 trees that josh-train 0.1.4 (MIT) was published with, and ToolWOZ for them."""
    from drl.mining.release import fetch, is_fetched

    if source is not None and not source.exists():
        raise DataError(f"--from {source}: there is no such file or folder")
    was_there = is_fetched(root)
    there = " (they were there already)" if was_there else ""
    print(f"The released JOSH trees are in {fetch(root, source)}{there}")


@data.command("mt_bench")
def data_mt_bench(
    source: Annotated[
        Path | None,
        typer.Option(
            "--from", help="The source archive of josh-train, the zip in it, or FastChat's folder."
        ),
    ] = None,
    root: _ROOT = Path("data"),
) -> None:
    """MT-Bench's questions and judge prompts (FastChat, Apache-2.0), from josh-train 0.1.4."""
    from drl.domains.mt_bench.fetch import fetch, is_fetched

    if source is not None and not source.exists():
        raise DataError(f"--from {source}: there is no such file or folder")
    was_there = is_fetched(root)
    there = " (it was there already)" if was_there else ""
    print(f"MT-Bench is in {fetch(root, source)}{there}")


def main() -> None:
    """Run the command line; what is wrong is said in one line."""
    logging.basicConfig(level="WARNING", format="%(levelname)s: %(message)s")
    try:
        with missing_packages_named():
            app()
    except DrlError as error:
        console = Console(stderr=True, highlight=False, soft_wrap=True)
        console.print(f"error: {' '.join(str(error).split())}", style="bold red", markup=False)
        sys.exit(2)
