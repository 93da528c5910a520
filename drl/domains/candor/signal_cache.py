"""Signals as they were read, kept in binary: the tables are a hundred columns wide.

All of CANDOR's take several minutes to read and 6 GB; what is used of them, seconds and 0.4 GB.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Final

import numpy as np

from drl.domains.candor import signals
from drl.domains.candor.faults import Note, Notes
from drl.domains.candor.signals import Signals
from drl.runtime.drafts import drafted_file

_log = logging.getLogger(__name__)

_ABOUT: Final = "about"
_DIGEST: Final = "digest"
_WORTH_KEEPING: Final = 1 << 17
"""Bytes; smaller tables are read faster than looked up."""
_FORM: Final = "2"
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
    arrays[_ABOUT] = np.array(json.dumps(about))
    kept.parent.mkdir(parents=True, exist_ok=True)
    with drafted_file(kept, is_shared=True) as draft, draft.open("wb") as file:
        np.savez(file, allow_pickle=False, **{_DIGEST: np.array(_digest(arrays))}, **arrays)


def _load(kept: Path, notes: Notes) -> Mapping[str, Signals] | None:
    """What was stored; None where there is nothing, or other than was stored."""
    try:
        with kept.open("rb") as file, np.load(file, allow_pickle=False) as opened:
            arrays = {name: opened[name] for name in opened.files}
        if str(arrays.pop(_DIGEST)) != _digest(arrays):
            return None
        about = json.loads(str(arrays[_ABOUT]))
    except Exception:  # damaged archives end in errors of all kinds; the table is read anew
        return None
    notes.update({Note(note): count for note, count in about["notes"].items()})
    return {
        person: Signals(
            arrays[f"{number}.seconds"],
            arrays[f"{number}.faces"],
            {
                name.split(".", 2)[2]: arrays[name]
                for name in arrays
                if name.startswith(f"{number}.measures.")
            },
        )
        for number, person in enumerate(about["people"])
    }


def _digest(arrays: Mapping[str, np.ndarray]) -> str:
    digest = blake2b(digest_size=16)
    for name, values in sorted(arrays.items()):
        digest.update(f"{name} {values.dtype} {values.shape} ".encode() + values.tobytes())
    return digest.hexdigest()
