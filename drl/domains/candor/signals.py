"""The involuntary signals of a conversation: face, gaze, voice, second by second for each person.

Reads audio_video_features.csv: a row a second and person, faces as eight probabilities that are
empty where none was found. Other columns are read where they exist.

Axes: S rows (seconds) of one person in order of time, C classes of faces.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from drl.domains.candor.faults import Note, Notes, Reason, UnusableError
from drl.domains.candor.tables import Table, finite

FILE: Final = "audio_video_features.csv"

FACES: Final = (
    *("anger", "contempt", "disgust", "fear"),
    *("happiness", "neutral", "sadness", "surprise"),
)
"""The classes of AffectNet, in the order of CANDOR's columns `prob_face_<class>`."""

_WORDS: Final = {"True": 1.0, "False": 0.0, "true": 1.0, "false": 0.0, "": math.nan}
_CLOCK: Final = re.compile(r"(?:(-?\d{1,9}) days?,? *\+?)?(\d{1,9}):(\d\d):(\d\d(?:\.\d*)?)")
"""The time of a row: "00:01:02.5", or with days before it, as pandas writes spans of time."""

_MEASURES: Final = {
    "gaze": ("gaze_on",),
    "speaking": ("is_speaking",),
    "pitch": ("pitch", "f0"),
    "intensity": ("intensity", "loudness"),
}
"""What is read besides faces, and how its column is called or, releases differ, at least begins."""


@dataclass(frozen=True, slots=True, eq=False)
class Signals:
    """What was seen and heard of one person.

    `seconds` float64 [S] rising; `faces` float32 [S, C], a row of NaN where no face was found;
    `measures` holds float32 [S] for those of gaze (0 or 1), speaking (0 or 1), pitch and intensity
    that the file has, NaN where nothing was measured.
    """

    seconds: NDArray[np.float64]
    faces: NDArray[np.float32]
    measures: Mapping[str, NDArray[np.float32]]


def read(path: Path, max_s: float, notes: Notes) -> Mapping[str, Signals]:
    """The signals of each person in the file, up to `max_s` seconds.

    Raises:
        UnusableError: the file is empty or lacks times, people or faces.
    """
    table = Table(path, notes)
    if not table.columns:
        raise UnusableError(Reason.UNREADABLE, f"{path.name} is empty")
    places = [table.place(name) for name in ("user_id", "timedelta")]
    places += [table.place(f"prob_face_{name}") for name in FACES]
    found = {name: _column(table.columns, known) for name, known in _MEASURES.items()}
    measures = {name: place for name, place in found.items() if place is not None}
    rows: dict[str, list[tuple[str, ...]]] = {}
    times: dict[str, list[float]] = {}
    for row in table.rows([*places, *measures.values()]):
        second = _seconds(row[1])
        if second is None:
            notes[Note.BAD_SIGNAL_TIMES] += 1
        elif second > max_s:
            notes[Note.CUT_SIGNALS] += 1
        else:
            rows.setdefault(row[0], []).append(row[2:])
            times.setdefault(row[0], []).append(second)
    return {
        person.strip(): _signals(times[person], rows[person], list(measures), notes)
        for person in rows
        if person.strip()
    }


def _signals(
    times: Sequence[float], rows: Sequence[tuple[str, ...]], measures: Sequence[str], notes: Notes
) -> Signals:
    seconds, order = np.unique(np.array(times), return_index=True)
    if len(order) < len(times):
        notes[Note.DUPLICATE_SECONDS] += len(times) - len(order)
    numbers = np.array([_numbers(column) for column in zip(*rows, strict=True)])
    with np.errstate(over="ignore"):  # what no float32 holds is no measure
        values = numbers.T[order].astype(np.float32)
    values[~np.isfinite(values)] = np.nan
    faces = values[:, : len(FACES)]
    is_face = ((faces >= 0) & (faces <= 1)).all(axis=1)  # NaN is neither
    is_face &= faces.sum(axis=1) > 0
    if not is_face.all():
        notes[Note.NO_FACE_ROWS] += int((~is_face).sum())
        faces[~is_face] = np.nan
    others = {name: values[:, len(FACES) + number] for number, name in enumerate(measures)}
    return Signals(seconds, faces, others)


def _column(columns: Sequence[str], names: Sequence[str]) -> int | None:
    lowered = [column.lower() for column in columns]
    for name in names:
        if name in lowered:
            return lowered.index(name)
    begins = (place for place, column in enumerate(lowered) if column.startswith(tuple(names)))
    return next(begins, None)


def _numbers(column: Sequence[str]) -> list[float]:
    try:
        return [float(text) if text else math.nan for text in column]
    except ValueError:
        return [_WORDS[text] if text in _WORDS else _number(text) for text in column]


def _number(text: str) -> float:
    value = finite(text)
    return math.nan if value is None else value


@lru_cache(maxsize=1 << 14)  # both people of all conversations have the same seconds
def _seconds(text: str) -> float | None:
    """The time of a row in seconds; None where the text is no time, or one before the start."""
    clock = _CLOCK.fullmatch(text.strip())
    if clock is None:
        value = _number(text)
        return value if value >= 0 else None
    days, hours, minutes, seconds = clock.groups()
    total = int(days or 0) * 86400 + int(hours) * 3600 + int(minutes) * 60 + float(seconds)
    return total if total >= 0 else None
