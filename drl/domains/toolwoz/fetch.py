"""Gets the real ToolWOZ data once and keeps it in a compact form.

The josh-train 0.1.4 wheel on the Python package index (MIT) holds the dialogues, databases and
tool definitions. The compact form appears in one rename: whatever interrupts a run, `root` holds
either all of it or none. Runs that meet wait for each other.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from drl.domains import josh_train
from drl.domains.toolwoz import compact, world
from drl.domains.toolwoz.record import DOMAINS, from_published
from drl.domains.toolwoz.source import REMEDY, Source
from drl.domains.toolwoz.stream import entries
from drl.errors import DataError
from drl.runtime.built_once import built_once
from drl.types import JSON


def fetch(root: Path, source: Path | None = None) -> Path:
    """The folder of the compact form below `root`, built if it is not there yet.

    `source` is a josh-train 0.1.4 wheel, its unpacked folder or checkout, or the dataset.zip in
    it; without one the wheel is downloaded through pip. Shows progress on a terminal.

    Raises:
        DataError: the source is missing, corrupt or another one; there is no network; `root`
            cannot be written.
    """

    def build(fresh: Path, work: Path) -> None:
        opened = Source(josh_train.download(work, REMEDY) if source is None else source)
        try:
            _convert(opened, fresh)
        finally:
            opened.close()

    return built_once(
        root / compact.FOLDER, compact.WHAT, is_there=lambda: is_fetched(root), build=build
    )


def is_fetched(root: Path) -> bool:
    """Whether the compact form of this version is there and intact."""
    try:
        compact.read(root / compact.FOLDER)
    except DataError:
        return False
    return True


def _convert(source: Source, folder: Path) -> None:
    """Write the compact form of a source and see that it can be read."""
    name = f"data.json of {source.path}"
    kept: dict[str, str] = {}
    try:
        with source.dialogues() as (stream, length), _progress(length) as advance:
            for dialogue_id, dialogue in entries(stream, name, advance):
                record = from_published(cast(Mapping[str, JSON], dialogue))
                if record is not None:
                    kept[dialogue_id] = compact.encode(record)
        compact.write(folder, _world(source, kept), kept)
        world.build(compact.read(folder))
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise DataError(
            f"{source.path} is not laid out like josh-train 0.1.4 ({error!r}); {REMEDY}"
        ) from error


def _world(source: Source, kept: Mapping[str, str]) -> Mapping[str, JSON]:
    """Databases, tool definitions and splits."""
    listed = {
        split: source.read(f"data/{split}ListFile.json").decode().split()
        for split in ("test", "val")
    }
    full_test = sorted(kept.keys() & set(listed["test"]))
    val = sorted(kept.keys() & set(listed["val"]))
    training = cast(list[str], source.json("josh_train/training_fnames.json"))
    splits: dict[str, JSON] = {
        "train": sorted(kept.keys() - set(full_test) - set(val)),
        "val": val,
        "test": full_test[:450],  # the published choice: the alphabetically first ones
        "full_test": full_test,
        "training_fnames": sorted(kept.keys() & set(training)),
    }
    return {
        "tables": {domain: _rows(source.json(f"db/{domain}_db.json")) for domain in DOMAINS},
        "definitions": source.json("data/valid_api_defs.json"),
        "tools": source.json("data/tools.json"),
        "splits": splits,
    }


def _rows(published: JSON) -> list[JSON]:
    """All rows with all columns, in the order in which columns first appear."""
    rows = cast(list[Mapping[str, JSON]], published)
    columns = {name: None for row in rows for name in row}
    return [{**columns, **row} for row in rows]


@contextmanager
def _progress(length: int) -> Iterator[Callable[[int], None]]:
    console = Console(stderr=True)
    parts = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*parts, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("reading the dialogues", total=length)
        yield lambda count: progress.advance(task, count)
