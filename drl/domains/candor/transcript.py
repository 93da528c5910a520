"""One transcript of a conversation: what was said by whom, and when.

CANDOR has three of each conversation, which cut speech into turns by different rules. Audiophile: a
turn lasts until the other one speaks. Cliffhanger: turns are whole sentences. Backbiter: short
acknowledgements of the listener are no turns, but are counted within the turn they fall into.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from typing import Final, NamedTuple

from drl.domains.candor.faults import Note, Notes, Reason, UnusableError
from drl.domains.candor.tables import Table, finite, whole

FLAVOURS: Final = ("cliffhanger", "audiophile", "backbiter")

_NEEDED: Final = ("speaker", "start", "stop", "utterance")
_OPTIONAL: Final = ("turn_id", "n_words", "backchannel_count")

_LONGEST_S: Final = 86_400
"""No turn lasts longer than a day, or starts so long before the recording."""
_MOST: Final = 10**6
"""Nor has one more words."""


class Spoken(NamedTuple):
    """A turn of a transcript; `number` is its turn_id, times are seconds of the recording."""

    number: int
    speaker: str
    start: float
    stop: float
    text: str
    num_words: int
    num_backchannels: int | None
    """Acknowledgements of the listener within it; None where the transcript keeps them as turns."""


def path_of(folder: Path, flavour: str) -> Path:
    """Where the transcript of a conversation lies."""
    return folder / "transcription" / f"transcript_{flavour}.csv"


def read(path: Path, max_s: float, notes: Notes) -> tuple[Spoken, ...]:
    """The usable rows in the order of their ids, up to those that start after `max_s` seconds.

    Raises:
        UnusableError: the file is missing, lacks a column, or no row of it can be used.
    """
    if not path.is_file():
        raise UnusableError(Reason.NO_TRANSCRIPT, path.name)
    table = Table(path, notes)
    if not table.columns:
        raise UnusableError(Reason.EMPTY_TRANSCRIPT, path.name)
    spoken = list(_usable(table, max_s, notes))
    if not spoken:
        faults = "; ".join(f"{note} ({count})" for note, count in notes.items())
        raise UnusableError(Reason.EMPTY_TRANSCRIPT, f"{path.name}: {faults or 'no rows'}")
    if any(after.number < before.number for before, after in pairwise(spoken)):
        notes[Note.UNORDERED_TURNS] += 1
        spoken.sort(key=attrgetter("number"))
    return tuple(spoken)


def merged(spoken: tuple[Spoken, ...], notes: Notes) -> tuple[Spoken, ...]:
    """Turns that alternate: rows of one speaker in a row become one, under the first one's number.

    It lasts from the first one's start to the last of their stops.
    """
    turns: list[Spoken] = []
    for row in spoken:
        if turns and turns[-1].speaker == row.speaker:
            turns[-1] = _joined(turns[-1], row)
            notes[Note.MERGED_TURNS] += 1
        else:
            turns.append(row)
    return tuple(turns)


def _joined(before: Spoken, after: Spoken) -> Spoken:
    counts = (before.num_backchannels, after.num_backchannels)
    known = [count for count in counts if count is not None]
    return before._replace(
        stop=max(before.stop, after.stop),
        text=f"{before.text} {after.text}",
        num_words=before.num_words + after.num_words,
        num_backchannels=sum(known) if known else None,
    )


def _usable(table: Table, max_s: float, notes: Notes) -> Iterator[Spoken]:
    names = [*_NEEDED, *(name for name in _OPTIONAL if name in table.columns)]
    seen: set[int] = set()
    for number, fields in enumerate(table.rows([table.place(name) for name in names])):
        spoken = _spoken(dict(zip(names, fields, strict=True)), number)
        if isinstance(spoken, Note):
            notes[spoken] += 1
        elif spoken.number in seen:
            notes[Note.DUPLICATE_TURN_IDS] += 1
        elif spoken.start > max_s:
            notes[Note.CUT_TURNS] += 1
        else:
            seen.add(spoken.number)
            yield spoken


def _spoken(row: Mapping[str, str], row_number: int) -> Spoken | Note:
    """The turn of a row, or why there is none."""
    number = whole(row["turn_id"]) if "turn_id" in row else row_number
    if number is None:
        return Note.BAD_TURN_IDS
    text, speaker = " ".join(row["utterance"].split()), row["speaker"].strip()
    if not text or not speaker:
        return Note.EMPTY_TURNS
    start, stop = finite(row["start"]), finite(row["stop"])
    if start is None or stop is None or not -_LONGEST_S <= start <= stop <= start + _LONGEST_S:
        return Note.BAD_TIMES
    num_words = _count(row.get("n_words", ""))
    return Spoken(
        number=number,
        speaker=speaker,
        start=start,
        stop=stop,
        text=text,
        num_words=len(text.split()) if num_words is None else num_words,
        num_backchannels=_count(row["backchannel_count"] or "0")
        if "backchannel_count" in row
        else None,
    )


def _count(text: str) -> int | None:
    value = whole(text)
    return value if value is not None and 0 <= value <= _MOST else None
