"""CSV files as people keep them: some columns by name, row by row, in bounded memory.

Commas, tabs and semicolons separate fields; UTF-8 with and without a byte order mark, UTF-16 with
one, and Windows-1252 are read.
"""

from __future__ import annotations

import csv
import math
from codecs import getincrementaldecoder
from collections.abc import Iterator, Sequence
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import TextIO, TypeAlias

from drl.domains.candor.faults import Note, Notes, Reason, UnusableError

Fields: TypeAlias = tuple[str, ...]

_SEPARATORS = (",", "\t", ";")
_CHUNK = 1 << 20
_GREATEST = 2**53
"""What floats count up to."""


class Table:
    """The columns of one file; iterating gives the chosen ones of every row, as texts.

    Rows without the last of the chosen columns are dropped and counted, and so are those that
    cannot be what was meant: with more fields than there are columns, or with other rows within a
    field, as a stray quotation mark makes them. Blank lines do not count. A repeated column name
    means the first of them.
    """

    def __init__(self, path: Path, notes: Notes) -> None:
        """Read the header.

        Raises:
            UnusableError: the file cannot be read. An empty one is for the caller to complain of:
                it has no columns.
        """
        self._path = path
        self._notes = notes
        self._encoding = _encoding(path, notes)
        with _opened(path, self._encoding) as file:
            first = file.readline(_CHUNK)
        self._separator = max(_SEPARATORS, key=first.count)
        names = next(self._records(), []) if first.strip() else []
        self.columns: Sequence[str] = [name.strip() for name in names]

    def place(self, name: str) -> int:
        """Where a column stands.

        Raises:
            UnusableError: it is not there.
        """
        if name not in self.columns:
            raise UnusableError(Reason.MISSING_COLUMN, f"{self._path.name} has no {name}")
        return self.columns.index(name)

    def rows(self, places: Sequence[int]) -> Iterator[Fields]:
        """The chosen fields of every row, as they stand there.

        Raises:
            UnusableError: a row cannot be read.
        """
        # itemgetter gives no tuple for a single place
        pick = itemgetter(*places) if len(places) > 1 else lambda row: (row[places[0]],)
        enough, most = max(places), len(self.columns)
        for row in islice(self._records(), 1, None):
            if any(row[most:]):
                self._notes[Note.LONG_ROWS] += 1
            elif len(row) > enough:
                if any("\n" in field and self._holds_row(field) for field in row):
                    self._notes[Note.QUOTED_ROWS] += 1
                else:
                    yield pick(row)
            elif row:
                self._notes[Note.SHORT_ROWS] += 1

    def _records(self) -> Iterator[list[str]]:
        """The header and the rows.

        Raises:
            UnusableError: one cannot be read.
        """
        with _opened(self._path, self._encoding) as file:
            reader = csv.reader(file, delimiter=self._separator)
            try:
                yield from reader
            except (csv.Error, OSError) as error:
                where = f"{self._path.name}:{reader.line_num} ({error})"
                raise UnusableError(Reason.UNREADABLE, where) from error

    def _holds_row(self, field: str) -> bool:
        """Whether a later line of a field has as many fields as there are columns."""
        lines = csv.reader(field.splitlines()[1:], delimiter=self._separator)
        return any(len(line) == len(self.columns) > 1 for line in lines)


def finite(text: str) -> float | None:
    """The number that a field holds; None where it holds something else, or no finite one."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def whole(text: str) -> int | None:
    """As `finite`, of whole numbers up to the greatest that any table or file can hold exactly."""
    value = finite(text)
    if value is None or abs(value) > _GREATEST or not value.is_integer():
        return None
    return int(value)


def _opened(path: Path, encoding: str) -> TextIO:
    try:
        # the few bytes that Windows-1252 leaves open do no harm to the rest of a line
        return path.open(encoding=encoding, errors="replace", newline="")
    except OSError as error:
        raise UnusableError(Reason.UNREADABLE, f"{path.name} ({error.strerror})") from error


def _encoding(path: Path, notes: Notes) -> str:
    """By its byte order mark, or UTF-8 if all of it is, or else the one that Windows writes."""
    decoder = getincrementaldecoder("utf-8")()
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                if file.tell() == len(chunk) and chunk[:2] in (b"\xff\xfe", b"\xfe\xff"):
                    return "utf-16"
                if b"\0" in chunk:
                    where = f"{path.name} (it holds zeros, so it is no text in UTF-8; save it anew)"
                    raise UnusableError(Reason.UNREADABLE, where)
                decoder.decode(chunk)
            decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        notes[Note.OTHER_ENCODING] += 1
        return "cp1252"
    except OSError as error:
        raise UnusableError(Reason.UNREADABLE, f"{path.name} ({error.strerror})") from error
    return "utf-8-sig"
