"""The table `audio_video_features.csv`: a row a second and person, in CANDOR's columns.

Axes: S seconds. A value that is not known is NaN here and an empty field in the file.
"""

from __future__ import annotations

import csv
import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from drl.domains.candor.signals import FACES, FILE
from drl.errors import RunError
from drl.types import JSON

SIDECAR = "signals.json"

SPEAKING = "is_speaking"
PITCH = "pitch"
INTENSITY = "intensity"
FACE_COLUMNS = tuple(f"prob_face_{face}" for face in FACES)

COLUMNS = ("timedelta", "user_id", SPEAKING, "gaze_on", PITCH, INTENSITY, *FACE_COLUMNS)
"""`gaze_on` stays empty: nothing here measures where a person looks."""


@dataclass(frozen=True, slots=True)
class Track:
    """What was measured of one person: by column float [S]; `at` [S] are seconds from the start."""

    user_id: str
    at: NDArray[np.float64]
    columns: Mapping[str, NDArray[np.float64]]


def check_free(folder: Path) -> None:
    """See that a folder has no table yet, before there is work that it would be for.

    Raises:
        RunError: it has.
    """
    path = folder / FILE
    if path.exists():
        raise RunError(f"{path} is there already; move it away or choose another --out")


def write_features(folder: Path, tracks: Sequence[Track], about: Mapping[str, JSON]) -> Path:
    """Write the table and, beside it, `signals.json` that says how its values came about.

    Rows are in the order of time, and people within a second in the order of `tracks`.

    Raises:
        RunError: the folder holds a table already, or cannot be written.
    """
    check_free(folder)
    path = folder / FILE
    rows = [row for track in tracks for row in _rows(track)]
    rows.sort(key=lambda row: row[0])  # stable: people keep their order
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with partial.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            writer.writerows(fields for _, fields in rows)
        text = json.dumps(about, indent=2, ensure_ascii=False)
        (folder / SIDECAR).write_text(f"{text}\n", encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        raise RunError(
            f"{path}: cannot be written ({error}); free space or choose another --out"
        ) from error
    finally:
        partial.unlink(missing_ok=True)
    return path


def _rows(track: Track) -> Iterator[tuple[float, list[str]]]:
    for place, second in enumerate(track.at.tolist()):
        values = [
            _field(column, float(track.columns[column][place])) if column in track.columns else ""
            for column in COLUMNS[2:]
        ]
        yield second, [clock(second), track.user_id, *values]


def _field(column: str, value: float) -> str:
    if math.isnan(value):
        return ""
    if column == SPEAKING:
        return str(value >= 0.5)  # of a share of the second
    return f"{value:.6g}"


def clock(seconds: float) -> str:
    """Seconds as the file has them, HH:MM:SS, with milliseconds where it is no whole second."""
    thousandths = round(seconds * 1000)
    whole, rest = divmod(thousandths, 1000)
    text = f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}"
    return f"{text}.{rest:03d}" if rest else text
