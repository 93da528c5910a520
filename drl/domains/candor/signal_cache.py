"""Signals as they were read, kept in binary: the tables are a hundred columns wide.

All of CANDOR's take several minutes to read and 6 GB; what is used of them, seconds and 0.4 GB.
"""

from __future__ import annotations

import json
import logging
import zipfile
from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Final

import numpy as np

from drl.domains.candor import signals
from drl.domains.candor.faults import Note, Notes
from drl.domains.candor.signals import Signals

_log = logging.getLogger(__name__)

_WORTH_KEEPING: Final = 1 << 17
"""Bytes; smaller tables are read faster than looked up."""
_FORM: Final = "1"
"""Of the stored arrays, and of how tables are read; a new one makes the old files unused."""


def read(path: Path, max_s: float, cache: Path, notes: Notes) -> Mapping[str, Signals]:
    """As `signals.read`, from the cache where the very same file was read before.

    Raises:
        UnusableError: as `signals.read`.
    """
    stat = path.stat()
    if stat.st_size < _WORTH_KEEPING:
        return signals.read(path, max_s, notes)
    identity = f"{_FORM}\n{path.absolute()}\n{stat.st_size}\n{stat.st_mtime_ns}\n{max_s}"
    kept = cache / f"{blake2b(identity.encode(), digest_size=12).hexdigest()}.npz"
    found = _load(kept, notes)
    if found is None:
        own: Notes = Notes()
        found = signals.read(path, max_s, own)
        try:
            _store(kept, found, own)
        except OSError as error:
            _complain(cache, str(error.strerror))
        notes.update(own)
    return found


@lru_cache
def _complain(cache: Path, why: str) -> None:
    _log.warning("%s: %s; signals are not kept there, so every run reads all of them", cache, why)


def _store(kept: Path, found: Mapping[str, Signals], notes: Notes) -> None:
    arrays: dict[str, np.ndarray] = {}
    for number, of in enumerate(found.values()):
        arrays[f"{number}.seconds"] = of.seconds
        arrays[f"{number}.faces"] = of.faces
        arrays |= {f"{number}.measures.{name}": values for name, values in of.measures.items()}
    about = {"people": list(found), "notes": {str(note): notes[note] for note in notes}}
    kept.parent.mkdir(parents=True, exist_ok=True)
    beside = kept.with_suffix(".part")
    with beside.open("wb") as file:
        np.savez(file, allow_pickle=False, about=np.array(json.dumps(about)), **arrays)
    beside.replace(kept)  # a reader sees all of it or nothing


def _load(kept: Path, notes: Notes) -> Mapping[str, Signals] | None:
    try:
        with kept.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            about = json.loads(str(arrays["about"]))
            found = {
                person: Signals(
                    arrays[f"{number}.seconds"],
                    arrays[f"{number}.faces"],
                    {
                        name.split(".", 2)[2]: arrays[name]
                        for name in arrays.files
                        if name.startswith(f"{number}.measures.")
                    },
                )
                for number, person in enumerate(about["people"])
            }
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None  # a file cut short is read anew and replaced
    notes.update({Note(note): count for note, count in about["notes"].items()})
    return found
