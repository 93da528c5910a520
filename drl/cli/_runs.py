"""What commands that start runs share: the folders they are told, and how they stop."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from drl.errors import ConfigError, RunError

ConfOption = Annotated[
    Path, typer.Option("--conf", help="Folder with the config groups, conf of the checkout.")
]


def check_conf(conf: Path) -> Path:
    """The folder of config groups, made absolute.

    Raises:
        ConfigError: it is not there.
    """
    if not (conf / "config.yaml").is_file():
        raise ConfigError(
            f"--conf {conf}: there is no {conf / 'config.yaml'}; start the command in the root of "
            "the checkout, or name its folder conf"
        )
    return conf.resolve()


def check_run(run: Path) -> Path:
    """The folder of a run with rollouts.

    Raises:
        RunError: it is none; the newest ones are named.
    """
    from drl.runtime.run_dir import ROLLOUTS
    from drl.runtime.stored_run import StoredRun

    lack = StoredRun(run).lack
    if lack:
        raise RunError(f"{run} {lack}; the newest runs with rollouts: {newest(Path(ROLLOUTS))}")
    return run


def newest(file: Path) -> str:
    """The newest runs that hold such a file, as messages list them."""
    found = sorted(Path("outputs").glob(f"*/*/{file}"), key=_age)[:5]
    return ", ".join(str(path.parent) for path in found) or "none below outputs"


def _age(path: Path) -> float:
    return -path.stat().st_mtime


@contextmanager
def resumable(where: str) -> Iterator[None]:
    """Answer a stop with where the results are, and exit as runs do."""
    try:
        yield
    except KeyboardInterrupt:
        console = Console(stderr=True, highlight=False, soft_wrap=True)
        console.print(
            f"Stopped. What is finished is in {where}; the same command goes on there.",
            markup=False,
        )
        sys.exit(130)
