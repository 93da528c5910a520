"""The names that models give to the eight classes of faces in CANDOR's table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from drl.domains.candor.signals import FACES
from drl.errors import ConfigError

IGNORED = "-"
"""Stands for an output of a model that is no emotion, such as valence."""

_OTHER_NAMES = {
    "angry": "anger",
    "disgusted": "disgust",
    "fearful": "fear",
    "happy": "happiness",
    "sad": "sadness",
    "surprised": "surprise",
}


def read_labels(text: str) -> tuple[str, ...]:
    """The emotions a model's outputs stand for, in their order, from a list or from a file.

    Args:
        text: names joined by commas, or the path of a file with a name a line. An output that is
            no emotion is called `-`.

    Raises:
        ConfigError: a name is unknown or comes twice, or none is an emotion.
    """
    names = text.split(",") if "," in text else _lines_of(Path(text))
    labels = tuple(_emotion(name.strip().lower()) for name in names if name.strip())
    emotions = [label for label in labels if label != IGNORED]
    twice = sorted({label for label in emotions if emotions.count(label) > 1})
    if twice or not emotions:
        fault = f"names {', '.join(twice)} twice" if twice else "names no emotion"
        raise ConfigError(f"--face-labels {text} {fault}; name each output of the model once")
    return labels


def columns_of(labels: Sequence[str]) -> tuple[list[int], list[int]]:
    """Which outputs of a model count, and where they stand among `FACES`."""
    kept = [place for place, label in enumerate(labels) if label != IGNORED]
    return kept, [FACES.index(labels[place]) for place in kept]


def _lines_of(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"--face-labels {path}: cannot be read ({error}); give a file with a class a line, or "
            "names joined by commas"
        ) from error


def _emotion(name: str) -> str:
    known = _OTHER_NAMES.get(name, name)
    if known not in (*FACES, IGNORED):
        raise ConfigError(
            f"--face-labels: unknown emotion {name!r}; known: {', '.join(FACES)}, and "
            f"{IGNORED} for an output to ignore"
        )
    return known
