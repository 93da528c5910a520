"""Gets MT-Bench's questions, judge prompts and reference answers once and keeps a packed copy.

They are part of FastChat (Apache-2.0), of which the source archive of josh-train 0.1.4 on the
Python package index holds a copy; its wheel does not. The copy appears in one rename; runs that
meet wait for each other.
"""

from __future__ import annotations

from pathlib import Path

from drl.domains import josh_train
from drl.domains.mt_bench import store, world
from drl.domains.mt_bench.source import REMEDY, read_files
from drl.domains.mt_bench.world import World
from drl.errors import DataError
from drl.runtime.built_once import built_once


def fetch(root: Path, source: Path | None = None) -> Path:
    """The folder of the copy below `root`, made if it is not there yet.

    `source` is the source archive, the zip in it, or a folder of FastChat, whose files need not be
    the published ones; without one the archive is downloaded through pip.

    Raises:
        DataError: the source is missing, corrupt, another one, or holds something else than what
            is there already; there is no network; `root` cannot be written.
    """
    if source is not None and is_fetched(root):
        _check_same(root / store.FOLDER, source)

    def build(fresh: Path, work: Path) -> None:
        texts = read_files(josh_train.download_archive(work, REMEDY) if source is None else source)
        world.build(texts, "")
        store.write(fresh, texts)

    return built_once(
        root / store.FOLDER, store.WHAT, is_there=lambda: is_fetched(root), build=build
    )


def is_fetched(root: Path) -> bool:
    """Whether the copy is there and intact."""
    try:
        store.read(root / store.FOLDER)
    except DataError:
        return False
    return True


def _check_same(folder: Path, source: Path) -> None:
    """Refuse a source that holds something else than `folder`.

    Raises:
        DataError: it does.
    """
    if read_files(source) != store.read(folder).texts:
        raise DataError(
            f"{source} holds another MT-Bench than {folder}; use another folder for it (--root), "
            f"or delete {folder} first"
        )


def fetched(root: Path) -> World:
    """The world; data that is missing, damaged or of another version is fetched.

    Raises:
        DataError: it cannot be had.
    """
    try:
        return world.load(root)
    except DataError:
        fetch(root)
        return world.load(root)
