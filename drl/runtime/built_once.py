"""A folder of data that is built once: it appears in one rename, whole or not at all.

Processes that meet wait for one another; what a killed one left is cleared away; a folder of
another version, or a corrupt one, is replaced.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from drl.errors import DataError
from drl.types import JSON

MANIFEST: Final = "manifest.json"
"""What tells the version of such a folder, in it."""

_PATIENCE_S: Final = 900
"""How long to wait for another process that builds the same."""


def built_once(
    folder: Path, what: str, *, is_there: Callable[[], bool], build: Callable[[Path, Path], None]
) -> Path:
    """The folder, built if it is not there yet.

    Args:
        folder: where it is to appear.
        what: the data in it, for messages.
        is_there: whether it is there and intact.
        build: fills a fresh folder; the second folder it gets is for whatever else it needs.

    Raises:
        DataError: it cannot be written, or another process takes too long; what `build` raises.
    """
    if is_there():
        return folder
    root = folder.parent
    try:
        root.mkdir(parents=True, exist_ok=True)
        with FileLock(root / f".{folder.name}.lock", timeout=_PATIENCE_S):
            if not is_there():
                _build(folder, build)
    except Timeout as error:
        raise DataError(
            f"another process has been fetching into {root} for {_PATIENCE_S} s; "
            "wait for it or end it"
        ) from error
    except OSError as error:
        raise _unwritable(root, what, error) from error
    return folder


def read_manifest(folder: Path, version: str, what: str, remedy: str) -> Mapping[str, JSON]:
    """The manifest of a folder of this version.

    Raises:
        DataError: it is missing, of another version, or corrupt; `remedy` says what to do.
    """
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        found = manifest["format"]
    except FileNotFoundError as error:
        raise DataError(f"no {what} in {folder}; {remedy}") from error
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise DataError(f"{path} is corrupt ({error}); {remedy}") from error
    if found != version:
        raise DataError(f"{path} is of version {found}, this code reads {version}; {remedy}")
    return manifest


def write_manifest(folder: Path, version: str, more: Mapping[str, JSON]) -> None:
    """Say of which version a folder is, and what else is to be known of it."""
    text = json.dumps({"format": version, **more}, indent=2)
    (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")


def _build(folder: Path, build: Callable[[Path, Path], None]) -> None:
    prefix = f".{folder.name}-work-"
    for leftover in folder.parent.glob(f"{prefix}*"):  # of a run that was killed; the lock is ours
        shutil.rmtree(leftover, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=prefix) as made:
        work = Path(made)
        fresh = work / folder.name
        fresh.mkdir()
        build(fresh, work)
        if folder.exists():  # of another version, or corrupt
            folder.replace(work / "replaced")
        fresh.replace(folder)


def _unwritable(root: Path, what: str, error: OSError) -> DataError:
    remedy = "set data_dir (or --root) to a folder that can be written"
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        remedy = f"free about 100 MB there, or {remedy}"
    return DataError(
        f"cannot write the {what} into {root}: {os.strerror(error.errno or 0)}"
        f" ({error.filename or root}); {remedy}"
    )
