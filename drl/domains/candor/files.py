"""One conversation as CANDOR keeps it in a folder: transcript, survey, signals, metadata.

<root>/<conversation>/metadata.json
                      survey.csv
                      audio_video_features.csv
                      transcription/transcript_<flavour>.csv
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from drl.domains.candor import clocks, signal_cache, signals, survey, transcript
from drl.domains.candor.clocks import ClockSettings
from drl.domains.candor.faults import Note, Notes, Reason, UnusableError
from drl.domains.candor.signals import Signals
from drl.domains.candor.transcript import Spoken
from drl.errors import DataError
from drl.runtime.built_once import MANIFEST
from drl.types import JSON

_log = logging.getLogger(__name__)

METADATA: Final = "metadata.json"
SURVEY: Final = "survey.csv"
HIDDEN_REWARDS: Final = "hidden_rewards.csv"
"""Lies beside generated conversations, and is for evaluation only: see `hidden`."""
_GENERATOR: Final = "candor_synthetic"
"""How the format of the generator's manifest begins."""
_NAMED: Final = 4
"""So many people of a survey are named where a speaker is not among them."""


@dataclass(frozen=True, kw_only=True)
class ReadSettings:
    """What of a conversation is read.

    `same_speaker` says what becomes of rows by one speaker in a row: merge makes them one turn,
    keep leaves them turns of their own, and alternate gives every second row to the other speaker,
    whatever the transcript says, as the released GELI does.
    """

    target: str
    flavour: str
    same_speaker: Literal["merge", "keep", "alternate"]
    max_s: float
    clocks: ClockSettings


@dataclass(frozen=True, kw_only=True, eq=False)
class Recording:
    """One conversation of two people. `speakers` are ordered by who spoke first.

    `id` is as `id_of` has it, `named` what metadata.json calls it: copies of a folder agree on it.
    `answers` to the target by speaker, None where not given; `signals` by speaker, for those who
    have any; `notes` counts what was mended or dropped.
    """

    id: str
    named: str
    speakers: tuple[str, str]
    turns: tuple[Spoken, ...]
    answers: Mapping[str, float | None]
    signals: Mapping[str, Signals]
    notes: Notes = field(default_factory=Notes)


def folders(root: Path) -> Sequence[Path]:
    """The folders of conversations, ordered by name.

    Raises:
        DataError: there is no such folder, or it holds no conversation.
    """
    if not root.is_dir():
        raise DataError(
            f"{root}: is no folder; point dataset.root at the one that holds a folder for each "
            "conversation, or set it to null for generated data"
        )
    found = sorted(path for path in root.iterdir() if path.is_dir() and path.name[0] != ".")
    if not any((path / "transcription").is_dir() or (path / SURVEY).is_file() for path in found):
        raise DataError(
            f"{root}: none of its {len(found)} folders has a survey.csv or a folder transcription; "
            "point dataset.root at the one that holds a folder for each conversation"
        )
    return found


def id_of(folder: Path) -> str:
    """The folder's name; bytes of it that are no UTF-8 are written out."""
    return os.fsencode(folder.name).decode("utf-8", "backslashreplace")


def generated_by(root: Path) -> Mapping[str, JSON] | None:
    """The settings that conversations were generated with; None where they are of real people.

    Nobody knows the hidden rewards of real people, so data with such is taken for generated even
    where the generator's manifest is missing.
    """
    try:
        manifest = json.loads((root / MANIFEST).read_text(encoding="utf-8"))
        if str(manifest["format"]).startswith(_GENERATOR):
            return dict(manifest["settings"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass  # whatever that file is, the generator did not write it
    return {} if (root / HIDDEN_REWARDS).exists() else None


def read(folder: Path, settings: ReadSettings, cache: Path) -> Recording:
    """A conversation, as far as it can be used.

    Signals that cannot be read are noted and left out; whether that matters is for the filters.

    Raises:
        UnusableError: it has no transcript of two speakers, no survey, or clocks far apart.
    """
    notes = Notes()
    turns = transcript.read(transcript.path_of(folder, settings.flavour), settings.max_s, notes)
    speakers = _speakers(turns)
    if settings.same_speaker == "merge":
        turns = transcript.merged(turns, notes)
    elif settings.same_speaker == "alternate":
        turns = tuple(turn._replace(speaker=speakers[n % 2]) for n, turn in enumerate(turns))
    answers = survey.read(folder / SURVEY, settings.target, notes)
    for speaker in speakers:
        if speaker not in answers:
            known = ", ".join(sorted(answers)[:_NAMED])
            raise UnusableError(Reason.SPEAKER_NOT_IN_SURVEY, f"{speaker}; user_id has {known}")
    seen = _signals(folder, speakers, settings.max_s, cache, notes)
    return Recording(
        id=id_of(folder),
        named=_named(folder, notes),
        speakers=speakers,
        turns=turns,
        answers={speaker: answers[speaker] for speaker in speakers},
        signals=clocks.fitted(seen, turns, settings.clocks, notes),
        notes=notes,
    )


def _speakers(turns: Sequence[Spoken]) -> tuple[str, str]:
    speakers = list(dict.fromkeys(turn.speaker for turn in turns))
    if len(speakers) != 2:
        raise UnusableError(Reason.NOT_TWO_SPEAKERS, f"{len(speakers)} in the transcript")
    return speakers[0], speakers[1]


def _signals(
    folder: Path, speakers: Sequence[str], max_s: float, cache: Path, notes: Notes
) -> Mapping[str, Signals]:
    path = folder / signals.FILE
    try:
        found = signal_cache.read(path, max_s, cache, notes) if path.is_file() else {}
    except UnusableError as error:
        _log.info("%s is used without its signals: %s", id_of(folder), error)
        found = {}
    found = {speaker: found[speaker] for speaker in speakers if speaker in found}
    if not found:
        notes[Note.NO_SIGNALS] += 1
    return found


def _named(folder: Path, notes: Notes) -> str:
    """The id by the metadata where it tells one, else the folder's."""
    path, own = folder / METADATA, id_of(folder)
    if not path.exists():  # nobody has to write one
        return own
    try:
        told = json.loads(path.read_text(encoding="utf-8-sig"))["id"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        told = None
    if not isinstance(told, str | int) or not str(told).strip():
        notes[Note.NO_METADATA] += 1
        return own
    if str(told) != own:
        notes[Note.OTHER_ID] += 1
    return str(told)
