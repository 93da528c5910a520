"""Files and folders that appear whole: they are written as drafts, which then take their place.

A reader never meets half of one. Who fails takes the draft away; what a killed one left is cleared
away by the next that writes there. For data that is built once, by whoever comes first, see
`drl.runtime.built_once`.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def drafted_file(path: Path, *, is_shared: bool) -> Iterator[Path]:
    """Where to write a file, which takes its place at the end.

    Args:
        path: of the file; its folder is there.
        is_shared: whether several processes may write it at once; each then has a draft of its own,
            and the last one wins.

    Raises:
        OSError: it cannot be written.
    """
    name = f".{path.name}.{os.getpid()}.draft" if is_shared else f"{path.name}.draft"
    draft = path.with_name(name)
    try:
        yield draft
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def drafted_folder(folder: Path) -> Iterator[Path]:
    """An empty folder to fill, which takes its place at the end; one process writes it at a time.

    What was there lies beside it until then: who is killed leaves the old one or the new one, at
    its place or where `is_there` finds it.

    Raises:
        OSError: it cannot be written.
    """
    draft, before = folder.with_name(f"{folder.name}.draft"), _before(folder)
    try:
        shutil.rmtree(draft, ignore_errors=True)  # of a start that was killed
        draft.mkdir(parents=True)
        yield draft
        if folder.exists():
            shutil.rmtree(before, ignore_errors=True)
            os.replace(folder, before)
        os.replace(draft, folder)
        shutil.rmtree(before, ignore_errors=True)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def is_there(folder: Path) -> bool:
    """Whether a drafted folder is there; one that a killed writer laid aside is put back.

    Raises:
        OSError: it cannot be put back.
    """
    before = _before(folder)
    if not folder.exists() and before.exists():
        os.replace(before, folder)
    return folder.is_dir()


def _before(folder: Path) -> Path:
    """Where the last one lies while the next one takes its place."""
    return folder.with_name(f"{folder.name}.before")
