"""Which conversations are held out, and which are dropped since they share people with those.

By default the id alone decides, so that it never changes. Of people in several conversations, held
out is whoever is in a held-out one: training on another conversation of theirs would leak how they
rate. Splitting by people instead is no way out: nearly all of CANDOR hangs together through them.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from io import StringIO
from pathlib import Path
from typing import Final, Literal, NamedTuple

from drl.errors import ConfigError, DataError
from drl.runtime.data_file import keep_text

HELD_OUT_SHARE: Final = 0.1
"""Of real CANDOR's 1,656 conversations this holds out about 166."""
PARTS: Final = ("train", "val", "test")

_HELD_OUT: Final[Mapping[str, Sequence[str]]] = {
    "none": (),
    "test": ("test",),
    "held_out": ("test", "val"),  # what test leaves of val counts
}
SHARES_PEOPLE: Final = "shares people with a held-out conversation"
"""Why a conversation is in no part."""
_NOT_CHOSEN: Final = "in no part"
_TOO_MANY: Final = "beyond division.per_part"


def place(conversation_id: str) -> float:
    """Where an id falls in [0, 1), as evenly as chance; the held-out ids lie lowest."""
    digest = blake2b(conversation_id.encode(), digest_size=8).digest()
    return (int.from_bytes(digest, "big") >> 11) / 2**53  # 53 bits: what a float holds exactly


def is_held_out(conversation_id: str, share: float = HELD_OUT_SHARE) -> bool:
    """Whether a conversation is held out; a larger share holds out the same ones and more."""
    return place(conversation_id) < share


@dataclass(frozen=True, kw_only=True)
class DivisionSettings:
    """How conversations are divided.

    hash: `test_share` of all are for test and `val_share` for val, by their ids; a `test_share` of
    None is the share that generated data holds out, a tenth of others. file: as a table of
    conversation_id and split says; others are in no part. position: by slices [from, to] of the
    usable ones in the order of their ids, counted from 0, negative from the end, as `positions`
    gives them for each part; of overlapping ones the part named first has it. Conversations that
    share a person with one of test are in no part with drop_shared=test; with held_out, those
    neither that share one with val. Of what is then in a part, `per_part` stay, drawn as by chance
    (None: all).
    """

    by: Literal["hash", "file", "position"]
    test_share: float | None
    val_share: float
    drop_shared: Literal["none", "test", "held_out"]
    file: str | None
    positions: dict[str, list[int | None]] | None
    per_part: int | None

    def __post_init__(self) -> None:
        """Check the settings against each other."""
        test_share = HELD_OUT_SHARE if self.test_share is None else self.test_share
        for name, share in (("test_share", test_share), ("val_share", self.val_share)):
            if not 0 <= share < 1:
                raise ConfigError(f"{name}={share} must be from 0 to below 1")
        if test_share + self.val_share >= 1:
            raise ConfigError(
                f"test_share={self.test_share} and val_share={self.val_share} leave nothing to "
                "train on; lower them"
            )
        if self.per_part is not None and self.per_part < 1:
            raise ConfigError(f"per_part={self.per_part} must be at least 1; use null for all")
        for rule, value in (("file", self.file), ("position", self.positions)):
            name = "file" if rule == "file" else "positions"
            if (self.by == rule) != (value is not None):
                raise ConfigError(f"{name}={value} goes with by={rule} only, but by={self.by}")
        for part, ends in (self.positions or {}).items():
            if part not in PARTS or len(ends) != 2:
                raise ConfigError(
                    f"positions.{part}={ends} must be [from, to] of one of {', '.join(PARTS)}"
                )


class Division(NamedTuple):
    """The part of each conversation that is in one, and why each of the others is in none."""

    parts: Mapping[str, str]
    left_out: Mapping[str, str]


def divide(
    people: Mapping[str, Collection[str]],
    settings: DivisionSettings,
    test_share: float = HELD_OUT_SHARE,
) -> Division:
    """Divide usable conversations, given who speaks in each.

    `test_share` stands in where the settings have none.

    Raises:
        DataError: the table cannot be read, or names a part that does not exist.
    """
    ids = sorted(people)
    if settings.by == "file":
        named = read_parts(Path(str(settings.file)))
        parts = {name: named[name] for name in ids if name in named}
    elif settings.by == "position":
        parts = _by_position(ids, settings.positions or {})
    else:
        share = test_share if settings.test_share is None else settings.test_share
        parts = {name: _by_hash(name, share, settings.val_share) for name in ids}
    left_out = {name: _NOT_CHOSEN for name in ids if name not in parts}
    for held_out in _HELD_OUT[settings.drop_shared]:
        for name in _sharing(people, parts, held_out):
            del parts[name]
            left_out[name] = SHARES_PEOPLE
    if settings.per_part is not None:
        for name in _beyond(settings.per_part, parts):
            del parts[name]
            left_out[name] = _TOO_MANY
    return Division(parts, left_out)


def read_parts(path: Path) -> Mapping[str, str]:
    """The parts that a table with the columns conversation_id and split names; blank ones not.

    Raises:
        DataError: it cannot be read, or names a part that does not exist.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [(row["conversation_id"], row["split"] or "") for row in csv.DictReader(file)]
    except (OSError, ValueError, KeyError, csv.Error) as error:
        raise DataError(
            f"{path}: is no table with the columns conversation_id and split ({error}); write one, "
            "or set dataset.division.by=hash"
        ) from error
    for name, part in rows:
        if part and part not in PARTS:
            raise DataError(f"{path}: {name} has split {part}; write one of {', '.join(PARTS)}")
    return {name: part for name, part in rows if part}


def write_parts(path: Path, division: Division, skipped: Mapping[str, str]) -> None:
    """Store who is in which part, and of the others why not; `read_parts` reads it back.

    Raises:
        DataError: it cannot be written.
    """
    reasons = {**skipped, **division.left_out}
    text = StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(("conversation_id", "split", "reason"))
    for name in sorted({*division.parts, *reasons}):
        part = division.parts.get(name, "")
        table.writerow((name, part, "" if part else reasons[name]))
    keep_text(path, text.getvalue())


def _by_hash(name: str, test_share: float, val_share: float) -> str:
    if is_held_out(name, test_share):
        return "test"
    return "val" if is_held_out(name, test_share + val_share) else "train"


def _by_position(ids: Sequence[str], positions: Mapping[str, list[int | None]]) -> dict[str, str]:
    parts: dict[str, str] = {}
    for part, ends in positions.items():
        for name in ids[slice(*ends)]:
            parts.setdefault(name, part)
    return parts


def _sharing(
    people: Mapping[str, Collection[str]], parts: Mapping[str, str], held_out: str
) -> Sequence[str]:
    """Conversations of parts that are looked at before `held_out`, which share people with it."""
    known = {person for name, part in parts.items() if part == held_out for person in people[name]}
    earlier = PARTS[: PARTS.index(held_out)]
    return [
        name
        for name, part in parts.items()
        if part in earlier and not known.isdisjoint(people[name])
    ]


def _beyond(most: int, parts: Mapping[str, str]) -> Sequence[str]:
    """Conversations that are too many for their part."""
    drawn = sorted(parts, key=place)
    return [name for part in PARTS for name in [n for n in drawn if parts[n] == part][most:]]
