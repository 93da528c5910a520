"""What commands that start runs share: the folders they are told, and how they stop."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from drl.errors import ConfigError, RunError

_SUMMARY = "summary.json"

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

    stored = StoredRun(run)
    if stored.lack and stored.adapter is not None:
        raise RunError(
            f"{run} is a training, which plays no dialogues; evaluate it first, with llm.adapter="
            f"{run}, and name that run"
        )
    lack = stored.lack
    if lack:
        known = newest(Path(ROLLOUTS), only_whole=True)
        raise RunError(f"{run} {lack}; the newest runs with rollouts: {known}")
    return run


def newest(file: Path, *, only_whole: bool = False) -> str:
    """The newest runs that hold such a file, as messages list them; or of them those that ended."""
    found = sorted(Path("outputs").glob(f"*/*/{file}"), key=_age)
    runs = [Path(*path.parts[:3]) for path in found]
    known = [str(run) for run in runs if not only_whole or _has_ended(run)]
    return ", ".join(known[:5]) or "none below outputs"


def _has_ended(run: Path) -> bool:
    """Whether it summed up something; what stopped or broke on the way did not."""
    try:
        summary = json.loads((run / _SUMMARY).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return "stopped" not in summary and summary.get("mean_reward", 0.0) is not None


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
