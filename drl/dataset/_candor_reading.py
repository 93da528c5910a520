"""All conversations of a folder, one after the other: sessions, and counts of what was wrong."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

from drl.dataset._candor_sessions import ViewSettings, sessions_of
from drl.domains.candor import files, signals, transcript
from drl.domains.candor.faults import Notes, Reason, UnusableError
from drl.domains.candor.files import ReadSettings, Recording
from drl.errors import DataError
from drl.turn_reward.session import Session
from drl.types import JSON

_NAMED = 5
"""So many conversations are named for each reason; the table of parts names all."""
_ENDS = 4096
"""Bytes of either end of a file of signals that its digest reads."""


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """What a folder holds: sessions in the order of their ids, and who is left out and why.

    `people` are the two of each usable conversation; `skipped` has the reason for each unusable
    one; `lacking` the reasons for sessions missing of usable ones; `notes` what was mended.
    """

    sessions: tuple[Session, ...]
    people: Mapping[str, tuple[str, str]]
    num_conversations: int
    skipped: Mapping[str, UnusableError]
    lacking: Sequence[tuple[str, UnusableError]]
    notes: Notes

    def counts(self) -> Mapping[str, JSON]:
        """The counts as summaries hold them, with some conversations for each reason, and where."""
        return {
            "conversations": self.num_conversations,
            "usable": len(self.people),
            "sessions": len(self.sessions),
            "skipped": _counted(self.skipped.items()),
            "sessions_left_out": _counted(self.lacking),
            "notes": {str(note): count for note, count in sorted(self.notes.items()) if count},
        }


@dataclass(slots=True)
class _Reading:
    """The state of a walk through the folders."""

    sessions: list[Session] = field(default_factory=list)
    people: dict[str, tuple[str, str]] = field(default_factory=dict)
    skipped: dict[str, UnusableError] = field(default_factory=dict)
    lacking: list[tuple[str, UnusableError]] = field(default_factory=list)
    notes: Notes = field(default_factory=Notes)
    named: dict[str, str] = field(default_factory=dict)
    said: dict[bytes, str] = field(default_factory=dict)

    def add(self, folder: Path, read: ReadSettings, view: ViewSettings, cache: Path) -> None:
        """Read one conversation; keep its sessions, not its tables."""
        recording = files.read(folder, read, cache)
        said = _said(recording)
        if recording.named in self.named:
            raise UnusableError(Reason.DUPLICATE, f"of {self.named[recording.named]}")
        if said in self.said:
            raise UnusableError(Reason.DUPLICATE, f"the very words of {self.said[said]}")
        made = sessions_of(recording, view)
        self.named[recording.named] = self.said[said] = recording.id
        self.people[recording.id] = recording.speakers
        self.sessions += made.sessions
        self.lacking += [(recording.id, error) for error in made.lacking]
        self.notes += recording.notes


@lru_cache(maxsize=1)
def load(root: Path, version: str, read: ReadSettings, view: ViewSettings, cache: Path) -> Loaded:
    """All that can be used of a folder; `version` makes sure that a changed one is read anew.

    Raises:
        DataError: there is no conversation, or none can be used.
    """
    reading = _Reading()
    folders = files.folders(root)
    for folder in folders:
        try:
            reading.add(folder, read, view, cache)
        except UnusableError as error:
            reading.skipped[files.id_of(folder)] = error
    if not reading.sessions:
        raise DataError(
            f"{root}: none of its {len(folders)} conversations can be used: "
            f"{listed(reading.skipped)}; check dataset.target={read.target}, "
            f"dataset.transcript={read.flavour}, dataset.scale and dataset.filters"
        )
    return Loaded(
        sessions=tuple(reading.sessions),
        people=reading.people,
        num_conversations=len(folders),
        skipped=reading.skipped,
        lacking=reading.lacking,
        notes=reading.notes,
    )


def listed(errors: Mapping[str, UnusableError]) -> str:
    """The reasons, commonest first, each with its count and one example."""
    first: dict[Reason, str] = {}
    for name, error in errors.items():
        first.setdefault(error.reason, f"{name}: {error.where}")
    counts = Counter(error.reason for error in errors.values()).most_common()
    return "; ".join(f"{reason} ({count}, such as {first[reason]})" for reason, count in counts)


def short_hash(settings: Iterable[object]) -> str:
    """Eight hex digits of settings, as they print."""
    return blake2b("\x1f".join(map(str, settings)).encode(), digest_size=4).hexdigest()


def digest(root: Path, flavour: str, settings: Iterable[object]) -> str:
    """Eight hex digits of what is read of a folder, and of settings that change its turns.

    Transcripts and surveys count with all they hold. Files of signals are too large for that: they
    count with their size and both ends.

    Raises:
        DataError: there is no conversation.
    """
    hashed = blake2b(short_hash(settings).encode(), digest_size=4)
    for folder in files.folders(root):
        hashed.update(os.fsencode(folder.name) + b"\0")
        for path in (transcript.path_of(folder, flavour), folder / files.SURVEY):
            hashed.update(_content(path) + b"\0")
        hashed.update(_ends(folder / signals.FILE) + b"\0")
    return hashed.hexdigest()


def _content(path: Path) -> bytes:
    try:
        return blake2b(path.read_bytes(), digest_size=16).digest()
    except OSError:
        return b"none"


def _ends(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            size = path.stat().st_size
            head = file.read(_ENDS)
            file.seek(max(size - _ENDS, 0))
            return f"{size}".encode() + head + file.read()
    except OSError:
        return b"none"


def _said(recording: Recording) -> bytes:
    """Equal where the same people said the same."""
    said = "".join(f"{turn.speaker}\x1f{turn.text}\n" for turn in recording.turns)
    return blake2b(said.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _counted(errors: Iterable[tuple[str, UnusableError]]) -> Mapping[str, JSON]:
    by_reason: dict[str, list[str]] = {}
    for name, error in errors:
        by_reason.setdefault(str(error.reason), []).append(f"{name}: {error.where}")
    return {
        reason: {"count": len(names), "such_as": names[:_NAMED]}
        for reason, names in sorted(by_reason.items())
    }
