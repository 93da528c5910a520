"""`drl view`: the report of a run, at a place in one of its trees, or at the origin of a row."""

from __future__ import annotations

import json
import re
import sys
import webbrowser
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple
from urllib.parse import urlencode

import typer

from drl.cli._runs import newest
from drl.errors import ConfigError, DataError, RunError

if TYPE_CHECKING:
    from drl.tree.dialogue_tree import DialogueTree
    from drl.types import JSON

_ROW = re.compile(r"(.+):([1-9]\d*)")


def view(
    run: Annotated[
        str,
        typer.Argument(
            metavar="RUN",
            help="A run folder, josh_release, or a row of an export: FILE:LINE.",
        ),
    ],
    task: Annotated[str | None, typer.Option(help="Open the tree of this task.")] = None,
    trial: Annotated[int | None, typer.Option(help="Of this trial; 0 unless said.")] = None,
    node: Annotated[int | None, typer.Option(help="At this node.")] = None,
    data_dir: Annotated[Path, typer.Option(help="Folder for data.")] = Path("data"),
    show: Annotated[bool, typer.Option("--open/--no-open", help="Start the browser.")] = True,
) -> None:
    """Open the report of a run in the browser, and print where it is."""
    row = None if Path(run).exists() else _ROW.fullmatch(run)
    if task is None and (trial is not None or node is not None):
        raise ConfigError("--trial and --node say where in a tree; say which with --task ID")
    if row:
        if task is not None:
            raise ConfigError(f"{run} is a row, which names its own tree; leave out --task")
        name, place = _origin(Path(row[1]), int(row[2]))
        folder = _folder(name, Path(row[1]))
    else:
        folder, place = run, None if task is None else _Place(task, trial or 0, node, "turn")
    report = _report(folder, data_dir)
    if place is not None:
        _check(folder, place, data_dir)
    address = report.as_uri() + (f"#{place.fragment()}" if place else "")
    print(address if place else report)
    if show and not webbrowser.open(address):
        print("No browser could be started here; open that file in one.", file=sys.stderr)


class _Place(NamedTuple):
    """A tree, and if known a node of it."""

    task: str
    trial: int
    node: int | None
    tab: str

    def fragment(self) -> str:
        """The address within a report; see `report/template/viewer.js`."""
        tree = {"task": self.task, "trial": self.trial}
        return urlencode(
            tree if self.node is None else {**tree, "node": self.node, "tab": self.tab}
        )


def _origin(file: Path, number: int) -> tuple[str, _Place]:
    """The run and the place that a row comes from.

    Raises:
        DataError: there is no such line, or it names no origin.
    """
    from drl.mining.export import ORIGINS
    from drl.mining.row_file import read_origin

    row, beside = _line(file, number), file.with_name(file.name + ORIGINS)
    if "origin" not in row and beside.is_file():
        row |= _line(beside, number)
    try:
        origin = read_origin(row.get("origin"))
    except ValueError as error:
        raise DataError(f"{file}:{number}: {error}") from error
    if origin is None or not origin.nodes:
        raise DataError(
            f"{file}:{number}: names no origin; name a file that drl export wrote, with its "
            f"{beside.name} where it is for OpenAI"
        )
    tab = "dialogue" if "messages" in row else "compare" if "rejected_origin" in row else "turn"
    return origin.run, _Place(origin.task_id, origin.trial, origin.nodes[-1], tab)


def _line(file: Path, number: int) -> dict[str, JSON]:
    """One line of a file, counted from 1.

    Raises:
        DataError: it is not there, or is no JSON.
    """
    try:
        with file.open("rb") as lines:
            text = next(islice(lines, number - 1, None), None)
    except OSError as error:
        raise DataError(f"{file}: cannot be read ({error.strerror})") from error
    if text is None:
        raise DataError(f"{file}:{number}: there is no such line; lines count from 1")
    try:
        return dict(json.loads(text))
    except (ValueError, TypeError) as error:
        raise DataError(f"{file}:{number}: is no row ({error})") from error


def _folder(name: str, file: Path) -> str:
    """The run of this name, below outputs/ or in the run that the file of rows lies in.

    Raises:
        RunError: it is not there.
    """
    from drl.mining import release
    from drl.mining.opening import find_run
    from drl.runtime.stored_run import StoredRun

    if name == release.NAME:
        return name
    around = [folder for folder in file.resolve().parents if StoredRun(folder).is_one]
    for below in (Path("outputs"), *around):
        found = find_run(name, below)
        if found:
            return str(found)
    raise RunError(
        f"{file}: this row comes from run {name}, which is not below outputs/ here; start the "
        "command where it is, or say drl view RUN --task ID --node N"
    )


def _report(run: str, data_dir: Path) -> Path:
    """The file of the report; that of the released data is written when it is first asked for.

    Raises:
        RunError: there is none.
    """
    from drl.mining import release

    folder = Path(run)
    if run == release.NAME and not folder.exists():
        return _released_report(data_dir)
    report = (folder / "report.html" if folder.is_dir() else folder).resolve()
    if not report.is_file():
        known = newest(Path("report.html"))
        lack = "has no report.html" if folder.exists() else "does not exist"
        raise RunError(f"{folder} {lack}; the newest runs with a report: {known}")
    return report


def _released_report(data_dir: Path) -> Path:
    from drl.mining import release
    from drl.mining.opening import open_source
    from drl.report.html import write_report
    from drl.report.task_card import card_of

    source = open_source(release.NAME, data_dir)
    report = (data_dir / release.NAME / "report.html").resolve()
    if not report.is_file():
        about = {"data_version": source.data_version, "agent": source.llm, "modes": source.mode}
        cards = ((card_of(source.tasks[tree.task_id], tree), tree) for tree in source.trees())
        write_report(report, release.NAME, about, cards)
    return report


def _check(run: str, place: _Place, data_dir: Path) -> None:
    """Refuse a place that the trees do not have.

    Raises:
        RunError: there is no such tree, or no such node in it.
    """
    known: list[str] = []
    for tree in _trees(run, data_dir):
        if (tree.task_id, tree.trial) != (place.task, place.trial):
            known.append(f"{tree.task_id} (trial {tree.trial})")
            continue
        if place.node is not None and not 0 <= place.node < len(tree.nodes):
            raise RunError(
                f"{run}: --node {place.node} is not in the tree of task {place.task}, trial "
                f"{place.trial}; its nodes are 0 to {len(tree.nodes) - 1}"
            )
        return
    raise RunError(
        f"{run}: --task {place.task}, trial {place.trial}: there is no such tree; the first are "
        f"{', '.join(known[:3]) or 'none'}"
    )


def _trees(run: str, data_dir: Path) -> Iterator[DialogueTree]:
    from drl.mining import release
    from drl.runtime.run_dir import ROLLOUTS
    from drl.tree.store import read_trees

    folder = Path(run)
    if run == release.NAME and not folder.exists():
        return release.read_trees(data_dir)
    folder = folder if folder.is_dir() else folder.parent
    if not (folder / ROLLOUTS).is_file():
        raise RunError(f"{folder}: has no {ROLLOUTS}, so --task leads nowhere; name a run folder")
    return read_trees(folder / ROLLOUTS)
