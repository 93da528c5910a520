"""Signals from a transcript alone, in the same table as those of faces.

A turn's score becomes the listener's face while it is said: positive in the column of happiness,
negative in that of sadness, the rest neutral. Nobody's face was seen, and the file beside the table
says so.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from drl.domains.candor import transcript
from drl.domains.candor.faults import Notes, UnusableError
from drl.domains.candor.signals import FACES
from drl.domains.candor.transcript import Spoken
from drl.errors import DataError, RunError
from drl.signals.extras import need
from drl.signals.table import FACE_COLUMNS, SPEAKING, Track, write_features
from drl.signals.text_proxies import Proxies, Weights, proxies_of, score
from drl.types import JSON

PROXIES = "text_proxies.csv"

_EVEN = 0.25
"""The score at which positive and neutral are as likely; there a face's class changes."""

_LONGEST_S = 12 * 3600.0


def write_text_signals(path: Path, folder: Path) -> Path:
    """The table of a transcript with CANDOR's columns, and each turn's proxies beside it.

    Raises:
        DataError: the transcript cannot be used.
        RunError: the folder holds a table already, or cannot be written.
        ConfigError: the lexicon is not installed.
    """
    notes = Notes()
    turns = _turns(path, notes)
    analyser = need("vaderSentiment.vaderSentiment", "--text-only").SentimentIntensityAnalyzer()
    proxies = proxies_of(turns, lambda text: float(analyser.polarity_scores(text)["compound"]))
    weights = Weights()
    scores = [score(one, weights) for one in proxies]
    speakers = list(dict.fromkeys(turn.speaker for turn in turns))
    tracks = [_track(listener, turns, scores) for listener in speakers]
    table = write_features(folder, tracks, _about(path, weights, notes))
    _write_proxies(folder / PROXIES, turns, proxies, scores)
    return table


def _turns(path: Path, notes: Notes) -> Sequence[Spoken]:
    try:
        turns = transcript.merged(transcript.read(path, _LONGEST_S, notes), notes)
    except UnusableError as error:
        raise DataError(
            f"{path}: {error}; give a CSV file with the columns speaker, start, stop and utterance"
        ) from error
    speakers = {turn.speaker for turn in turns}
    if len(speakers) != 2:
        raise DataError(
            f"{path}: has {len(speakers)} speakers ({', '.join(sorted(speakers)[:5])}); a "
            "transcript of two is needed, each with one name throughout"
        )
    return turns


def _track(listener: str, turns: Sequence[Spoken], scores: Sequence[float]) -> Track:
    """A row a second, and one at the start of each turn that is too short to hold a second."""
    end = max(turn.stop for turn in turns)
    whole = np.arange(math.floor(end) + 1, dtype=np.float64)
    short = [turn.start for turn in turns if math.ceil(turn.start) > turn.stop]
    at = np.unique(np.concatenate([whole, np.round(short, 3)]))
    faces_SC = np.full((len(at), len(FACES)), np.nan)
    speaking = np.zeros(len(at))
    for turn, value in zip(turns, scores, strict=True):
        # a thousandth of tolerance: times of rows are written in milliseconds
        inside = (at >= turn.start - 0.0005) & (at <= turn.stop + 0.0005)
        if turn.speaker == listener:
            speaking[inside] = 1.0
        else:
            faces_SC[inside] = _face(value)
    columns = {name: faces_SC[:, place] for place, name in enumerate(FACE_COLUMNS)}
    return Track(listener, at, {**columns, SPEAKING: speaking})


def _face(value: float) -> NDArray[np.float64]:
    """A face whose likeliest class is neutral below `_EVEN`, and the score's sign above it."""
    share = abs(value) / (abs(value) + _EVEN)
    face = np.zeros(len(FACES))
    face[FACES.index("neutral")] = 1 - share
    face[FACES.index("happiness" if value > 0 else "sadness")] += share
    return face


def _about(path: Path, weights: Weights, notes: Notes) -> Mapping[str, JSON]:
    return {
        "kind": "text proxies",
        "warning": "No face was seen. The face columns hold guesses from the transcript: happiness "
        "stands for positive, sadness for negative, all else is neutral. Labels learned from them "
        "are about words and timing, not about involuntary reactions.",
        "source": path.name,
        "sentiment": "VADER (Hutto and Gilbert 2014)",
        "weights": asdict(weights),
        "even_score": _EVEN,
        "notes": {str(note): count for note, count in notes.items() if count},
    }


def _write_proxies(
    path: Path, turns: Sequence[Spoken], proxies: Sequence[Proxies], scores: Sequence[float]
) -> None:
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            names = list(asdict(proxies[0]))
            writer.writerow(["turn_id", "speaker", *names, "score"])
            for turn, one, value in zip(turns, proxies, scores, strict=True):
                values = ["" if of is None else f"{of:.4g}" for of in asdict(one).values()]
                writer.writerow([turn.number, turn.speaker, *values, f"{value:.4g}"])
    except OSError as error:
        raise RunError(f"{path}: cannot be written ({error}); free space there") from error
