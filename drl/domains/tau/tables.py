"""Databases that fork in no time: one immutable base, and what each branch changed.

A branch holds only the records that it wrote. `fork` shares them, and whoever writes next copies
first, so the cost of a branch does not depend on the size of the database. The texts of all base
records are kept, so that hashing a branch costs little more than hashing bytes.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Final, Generic, TypeVar, cast

from drl.domains.tau.digest import enclose, segment
from drl.types import JSON

if TYPE_CHECKING:
    from hashlib import _Hash as Hash

RecordT = TypeVar("RecordT", bound=Mapping[str, object])
Record = Mapping[str, JSON]
Database = Mapping[str, Mapping[str, Record]]
"""Tables by name, each of them records by key."""


class _Base:
    """The records of one table as they came, and their texts for the hash."""

    def __init__(self, records: Mapping[str, Record]) -> None:
        self.records: Final = records

    @cached_property
    def segments(self) -> dict[str, bytes]:
        """The text of every record, in the order of keys."""
        return {key: segment(key, self.records[key]) for key in sorted(self.records)}

    @cached_property
    def text(self) -> bytes:
        """The text of the whole table."""
        return enclose(self.segments.values())


class Table(Generic[RecordT]):
    """One table as one branch sees it; keys keep the order in which they came."""

    def __init__(self, base: _Base, written: dict[str, Record]) -> None:
        self._base = base
        self._written = written
        self._own: set[str] | None = None
        """Keys whose records no other branch can see; None while `_written` itself is shared."""

    def __contains__(self, key: str) -> bool:
        """Whether there is such a record."""
        return key in self._base.records or key in self._written

    def __iter__(self) -> Iterator[str]:
        """All keys."""
        yield from self._base.records
        yield from (key for key in self._written if key not in self._base.records)

    def __len__(self) -> int:
        """The number of records."""
        return sum(1 for _ in self)

    def items(self) -> Iterator[tuple[str, RecordT]]:
        """All records by key, to be read only."""
        return ((key, self.read(key)) for key in self)

    def read(self, key: str) -> RecordT:
        """A record that other branches may share, to be read only.

        Raises:
            KeyError: there is none.
        """
        found = self._written[key] if key in self._written else self._base.records[key]
        return cast(RecordT, found)

    def write(self, key: str) -> RecordT:
        """The branch's own copy of a record, to be changed until the next fork or digest.

        Raises:
            KeyError: there is none.
        """
        if self._own is None or key not in self._own:
            self[key] = cast(RecordT, copied(cast(Record, self.read(key))))
        return self.read(key)

    def __setitem__(self, key: str, record: RecordT) -> None:
        """Put a record that is nobody else's in place of another, or last if it is new."""
        if self._own is None:
            self._written = dict(self._written)
            self._own = set()
        self._written[key] = cast(Record, record)
        self._own.add(key)

    @property
    def is_touched(self) -> bool:
        """Whether any record was written, be it without a change."""
        return bool(self._written)

    def fork(self) -> "Table[RecordT]":
        """A table that goes on from here; from now on both copy before they write."""
        self._own = None
        return Table(self._base, self._written)

    def text(self) -> bytes:
        """What the table adds to the hash."""
        if not self._written:
            return self._base.text
        fresh = {key: segment(key, record) for key, record in self._written.items()}
        segments = self._base.segments | fresh
        if len(segments) > len(self._base.segments):
            segments = {key: segments[key] for key in sorted(segments)}
        return enclose(segments.values())

    def plain(self) -> dict[str, Record]:
        """A full copy."""
        return {key: copied(cast(Record, record)) for key, record in self.items()}


class _Prefixes:
    """The hash of the first tables as they came, which branches that change others start from."""

    def __init__(self, untouched: Mapping[str, Table[Record]]) -> None:
        self._untouched = untouched
        self.names: Final = sorted(untouched)
        self._hashes = [sha256(b"(")]

    def hash_of(self, num_tables: int) -> "Hash":
        """A hash to go on with, after so many tables in the order of names."""
        for position in range(len(self._hashes), num_tables + 1):
            hashed = self._hashes[-1].copy()
            hashed.update(self.piece(position - 1, self._untouched))
            self._hashes.append(hashed)
        return self._hashes[num_tables].copy()

    def piece(self, position: int, tables: Mapping[str, Table[Record]]) -> bytes:
        """What one table adds, with the comma before it."""
        name = self.names[position]
        comma = b", " if position else b""
        return comma + b"(" + repr(name).encode() + b", " + tables[name].text() + b")"


class Tables:
    """A database as one branch of a dialogue sees it."""

    def __init__(self, tables: dict[str, Table[Record]], prefixes: _Prefixes) -> None:
        self._tables = tables
        self._prefixes = prefixes

    @classmethod
    def of(cls, database: Database) -> "Tables":
        """A first branch over a database, which nobody may change from now on."""
        tables = {name: Table[Record](_Base(records), {}) for name, records in database.items()}
        return cls(tables, _Prefixes({name: table.fork() for name, table in tables.items()}))

    def __getitem__(self, name: str) -> Table[Record]:
        """A table.

        Raises:
            KeyError: there is none of this name.
        """
        return self._tables[name]

    def fork(self) -> "Tables":
        """A database that goes on from here; neither sees what the other writes next."""
        return Tables({n: table.fork() for n, table in self._tables.items()}, self._prefixes)

    def digest(self) -> str:
        """The published hash of this state, equal to that of a full copy."""
        prefixes = self._prefixes
        touched = (n for n, name in enumerate(prefixes.names) if self._tables[name].is_touched)
        first = next(touched, len(prefixes.names))
        hashed = prefixes.hash_of(first)
        for position in range(first, len(prefixes.names)):
            hashed.update(prefixes.piece(position, self._tables))
        hashed.update(b",)" if len(prefixes.names) == 1 else b")")
        return hashed.hexdigest()

    def plain(self) -> dict[str, dict[str, Record]]:
        """A full copy."""
        return {name: table.plain() for name, table in self._tables.items()}


def copied(record: Record) -> dict[str, JSON]:
    """A copy of a record that shares nothing which can change."""
    return {key: _copied(value) for key, value in record.items()}


def _copied(value: JSON) -> JSON:
    if isinstance(value, Mapping):
        return copied(value)
    if isinstance(value, list):
        return [_copied(member) for member in value]
    return value
