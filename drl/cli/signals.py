"""`drl signals`: a table of faces and voices from one's own recordings, as CANDOR has it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

    from drl.signals.face_pixels import Colours, Scaling
    from drl.signals.face_reader import FaceReader
    from drl.signals.recording import Senses
    from drl.signals.sense import Sense

_Pitch = Literal["swift_f0", "autocorrelation", "none"]
_Activity = Literal["silero", "energy", "none"]


def signals(
    media: Annotated[
        list[Path],
        typer.Argument(help="A recording of each person, or one with a channel for each."),
    ],
    out: Annotated[Path, typer.Option("--out", help="The conversation's folder.")],
    speaker: Annotated[
        list[str] | None,
        typer.Option(help="NAME=ID: whose file (by its name) or channel (left, right) it is."),
    ] = None,
    start: Annotated[
        list[str] | None,
        typer.Option(help="NAME=SECONDS: when a file began, by the transcript's clock."),
    ] = None,
    text_only: Annotated[
        bool, typer.Option("--text-only", help="Guess from a transcript (CSV) instead.")
    ] = False,
    face: Annotated[
        str | None, typer.Option(help="An ONNX classifier of faces, or fer; else no faces.")
    ] = None,
    face_labels: Annotated[
        str | None, typer.Option(help="Its classes in order: a file, or names joined by commas.")
    ] = None,
    face_scaling: Annotated[
        Literal["imagenet", "unit", "signed", "raw"], typer.Option(help="Of the pixels it takes.")
    ] = "imagenet",
    face_colours: Annotated[
        Literal["rgb", "bgr"], typer.Option(help="The order of the colours it takes.")
    ] = "rgb",
    face_size: Annotated[
        int | None, typer.Option(min=1, help="Pixels, where it takes any size.")
    ] = None,
    face_detector: Annotated[
        str, typer.Option(help="cascade, none (faces fill the picture), or a YuNet file.")
    ] = "cascade",
    pictures: Annotated[
        float, typer.Option(min=0.1, help="Pictures looked at for each second.")
    ] = 2.0,
    pitch: Annotated[_Pitch, typer.Option(help="What finds the pitch.")] = "swift_f0",
    activity: Annotated[_Activity, typer.Option(help="What tells who speaks.")] = "silero",
) -> None:
    """Write audio_video_features.csv, a row a second and person, for dataset=candor.

    The ids of people must be those of the transcript. signals.json beside the table says how its
    values came about.
    """
    from drl.signals.people import people_of
    from drl.signals.recording import measure
    from drl.signals.table import check_free, write_features
    from drl.signals.text_only import write_text_signals

    check_free(out)
    if text_only:
        print(write_text_signals(_only(media), out))
        return
    people = people_of(media, speaker or [], start or [])
    reader = _reader(face, face_labels, face_scaling, face_colours, face_size)
    senses = _senses(reader, face_detector, pictures, pitch, activity)
    tracks, about = measure(people, senses)
    print(write_features(out, tracks, {"kind": "recordings", "people": about}))
    unnamed = [person.user_id for person in people if person.user_id == person.path.stem]
    if unnamed:
        typer.echo(
            f"Called by their files: {', '.join(unnamed)}. Where the transcript calls them "
            f"otherwise, say --speaker {unnamed[0]}=ID.",
            err=True,
        )
    if reader is None:
        typer.echo("No faces: --face was not given, so turns get no labels from them.", err=True)


def _only(media: list[Path]) -> Path:
    from drl.errors import ConfigError

    if len(media) != 1:
        raise ConfigError(
            f"--text-only: {len(media)} files; give the one transcript of the conversation"
        )
    return media[0]


def _reader(
    face: str | None, labels: str | None, scaling: Scaling, colours: Colours, size: int | None
) -> Callable[[], FaceReader] | None:
    """What makes a reader of faces, tried once.

    Raises:
        ConfigError: it cannot be made.
    """
    from drl.errors import ConfigError
    from drl.signals.face_fer import FerFaceReader
    from drl.signals.face_reader import OnnxFaceReader, OnnxSettings

    if face is None:
        return None
    if face == "fer":
        return FerFaceReader
    if labels is None:
        raise ConfigError(
            f"--face {face}: nobody knows what its outputs stand for; give --face-labels, such as "
            "neutral,happiness,sadness,surprise,fear,disgust,anger,contempt"
        )
    settings = OnnxSettings(
        file=Path(face), labels=labels, scaling=scaling, colours=colours, size=size
    )
    return lambda: OnnxFaceReader(settings)


def _senses(
    reader: Callable[[], FaceReader] | None,
    face_detector: str,
    pictures: float,
    pitch: _Pitch,
    activity: _Activity,
) -> Senses:
    from drl.signals.activity import EnergyActivity, SileroActivity
    from drl.signals.face import Face
    from drl.signals.face_finder import face_finder
    from drl.signals.recording import Senses
    from drl.signals.voice import AutocorrelationPitch, Loudness, SwiftPitch

    pitches: dict[_Pitch, Callable[[], Sense]] = {
        "swift_f0": SwiftPitch,
        "autocorrelation": AutocorrelationPitch,
    }
    activities: dict[_Activity, Callable[[], Sense]] = {
        "silero": SileroActivity,
        "energy": EnergyActivity,
    }
    ears: list[Callable[[], Sense]] = [Loudness]
    if pitch in pitches:
        ears.append(pitches[pitch])
    if activity in activities:
        ears.append(activities[activity])
    eye = None if reader is None else lambda: Face(face_finder(face_detector), reader())
    return Senses(ears=ears, eye=eye, pictures_per_second=pictures)
