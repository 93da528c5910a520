"""From the recordings of a conversation to a track of signals for each person in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from drl.errors import DataError
from drl.signals.media import SAMPLE_RATE, Media, open_media
from drl.signals.sense import Sense
from drl.signals.table import Track
from drl.types import JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Whom a recording shows and where in it they are heard.

    `channel` is the number of a sound channel, None for a recording of this person alone.
    `start_s` is when the recording began, by the clock of the transcript.
    """

    user_id: str
    path: Path
    channel: int | None
    start_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Senses:
    """What measures: fresh ears for each person, and an eye where there is a model for faces.

    The eye looks at `pictures_per_second`.
    """

    ears: Sequence[Callable[[], Sense]]
    eye: Callable[[], Sense] | None
    pictures_per_second: float


def measure(people: Sequence[Person], senses: Senses) -> tuple[list[Track], dict[str, JSON]]:
    """A track for each person, in their order, and how its values came about by person.

    Faces come from recordings of one person alone: in a picture of two, nobody tells whose is
    whose.

    Raises:
        DataError: a file cannot be read, or lacks what is asked of it.
    """
    media = {path: open_media(path) for path in dict.fromkeys(one.path for one in people)}
    # all are made before any works: what is missing or does not fit shows in the first second
    made = [(person, *_senses_for(person, media[person.path], senses)) for person in people]
    if senses.eye is not None and not any(eyes for _, _, eyes in made):
        raise DataError(
            f"--face: {', '.join(str(path) for path in media)} show no person alone, whose faces "
            "could be read; give a film of each person, or leave out --face"
        )
    tracks: list[Track] = []
    about: dict[str, JSON] = {}
    for person, ears, eyes in made:
        source = media[person.path]
        _listen(person, source, ears)
        for eye in eyes:
            for picture in source.pictures(senses.pictures_per_second):
                eye.take(picture.pixels, picture.second)
        used = [*ears, *eyes]
        columns = {name: values for sense in used for name, values in sense.columns().items()}
        tracks.append(_track(person, columns))
        about[person.user_id] = {
            "file": person.path.name,
            "channel": person.channel,
            "start_s": person.start_s,
            "broken_packets": source.num_broken,
            **{key: value for sense in used for key, value in sense.about().items()},
        }
    return tracks, about


def _senses_for(person: Person, media: Media, senses: Senses) -> tuple[list[Sense], list[Sense]]:
    """The ears and the eyes that this person's recording has work for."""
    if person.channel is not None and person.channel >= media.num_channels:
        raise DataError(
            f"{media.path}: has {media.num_channels} sound channels, so {person.user_id} is in "
            "none of them; give a recording with a channel for each person, or one file each"
        )
    ears = [make() for make in senses.ears] if media.num_channels else []
    is_seen = senses.eye is not None and media.has_pictures and person.channel is None
    return ears, [senses.eye()] if senses.eye is not None and is_seen else []


def _listen(person: Person, media: Media, ears: Sequence[Sense]) -> None:
    if not ears:
        return
    second = 0.0
    for block in media.sound():
        voice = block.mean(axis=0) if person.channel is None else block[person.channel]
        for ear in ears:
            ear.take(voice, second)
        second += block.shape[1] / SAMPLE_RATE


def _track(person: Person, columns: Mapping[str, NDArray[np.float64]]) -> Track:
    length = max((len(values) for values in columns.values()), default=0)
    at = np.arange(length, dtype=np.float64) + person.start_s
    padded = {
        name: np.concatenate([values, np.full(length - len(values), np.nan)])
        for name, values in columns.items()
    }
    known = at >= 0  # before the transcript begins nobody asks
    if length and not known.any():
        raise DataError(
            f"{person.path}: ends before the transcript begins, as --start {person.path.stem}="
            f"{person.start_s:g} says; give the second of the transcript at which it begins"
        )
    return Track(person.user_id, at[known], {name: of[known] for name, of in padded.items()})
