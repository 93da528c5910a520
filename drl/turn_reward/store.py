"""Embeddings of sessions in a folder: rows on disk, and which of them are whose.

Rows are appended to one file of plain numbers, and lines about the sessions of a chunk are written
after its rows. So a chunk counts once all of it is there, and what a kill leaves of another is
written over. A session is known by what was said in it, so the same id with other words is another
one. A line holds a checksum of the session's rows; of stores that were made without, rows are taken
as they are.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from filelock import FileLock, Timeout

from drl.errors import DataError
from drl.runtime.data_file import keep_text, unwritable
from drl.runtime.lines import LineFile, whole_lines
from drl.types import JSON

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LOG = logging.getLogger(__name__)

_ROWS = "rows.bin"
_INDEX = "sessions.jsonl"
_ABOUT = "about.json"


class Span(NamedTuple):
    """Rows of one session: the first, how many, and their checksum where one was kept."""

    start: int
    num_rows: int
    checksum: str | None

    @property
    def end(self) -> int:
        """The row after its last."""
        return self.start + self.num_rows


class EmbeddingStore:
    """A folder of embeddings [N, d] of one encoder and text format, all of one type.

    `about` says in words what they are, for whoever looks into the folder.

    Raises:
        DataError: the folder cannot be written or read.
    """

    def __init__(self, folder: Path, dimension: int, kind: str, about: Mapping[str, JSON]) -> None:
        self.folder = folder
        self.dimension = dimension
        self._type = np.dtype(kind)
        keep_text(folder / _ABOUT, json.dumps(about, indent=2) + "\n")

    def spans(self) -> dict[str, Span]:
        """Where the rows of each finished session are, by its digest, in the order of the rows.

        Raises:
            DataError: the index cannot be read, or the rows are fewer than it says.
        """
        index = self.folder / _INDEX
        if not index.is_file():
            return {}
        found: dict[str, Span] = {}
        end = 0
        try:
            for number, line in whole_lines(index):
                told = json.loads(line)
                span = Span(int(told["start"]), int(told["num_rows"]), told.get("checksum"))
                if span.start != end or span.num_rows < 0:  # each begins where the last one ended
                    raise ValueError(f"line {number}: rows {span.start} to {span.end} after {end}")
                found[str(told["session"])] = span
                end = span.end
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise DataError(
                f"{index}: cannot be read ({error}); remove {self.folder} to embed anew"
            ) from error
        rows, size = self.folder / _ROWS, end * self._row_size
        if size and (not rows.is_file() or rows.stat().st_size < size):
            raise DataError(
                f"{rows}: holds less than {size} bytes, so it was cut; remove {self.folder} to "
                "embed anew"
            )
        return found

    def matrix(self) -> NDArray[np.floating]:
        """All rows [N, d], read-only and mapped: only what is looked at is in memory.

        Raises:
            DataError: as `spans`.
        """
        num_rows = _end(self.spans())
        if num_rows == 0:
            return np.empty((0, self.dimension), dtype=self._type)
        rows = self.folder / _ROWS
        return np.memmap(rows, dtype=self._type, mode="r", shape=(num_rows, self.dimension))

    def check(self, spans: Iterable[Span]) -> None:
        """See that rows are finite numbers, and those that were written.

        Raises:
            DataError: they are not.
        """
        matrix = self.matrix()
        for span in spans:
            rows = matrix[span.start : span.end]
            if not np.isfinite(rows).all():
                fault = "are no finite numbers"
            elif span.checksum not in (None, _checksum(rows.tobytes())):
                fault = "are not what was written there"
            else:
                continue
            raise DataError(
                f"{self.folder / _ROWS}: rows {span.start} to {span.end} {fault}; remove "
                f"{self.folder} to embed anew"
            )

    @contextmanager
    def writing(self) -> Iterator[StoreWriter]:
        """Room to append; one process at a time has it, and others wait.

        Raises:
            DataError: the disk is full or cannot be written; as `spans`.
        """
        try:
            with (
                self._locked(),
                LineFile(self.folder / _INDEX) as lines,
                (self.folder / _ROWS).open("ab") as rows,
            ):
                spans = self.spans()  # which sees that there are no fewer rows than that
                rows.truncate(_end(spans) * self._row_size)
                yield StoreWriter(self, spans, lines, rows.fileno())
        except OSError as error:
            raise unwritable(self.folder, error) from error

    @contextmanager
    def _locked(self) -> Iterator[None]:
        lock = FileLock(self.folder / ".lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            _LOG.warning("%s: another process embeds there; waiting for it", self.folder)
            lock.acquire()
        try:
            yield
        finally:
            lock.release()

    @property
    def _row_size(self) -> int:
        return self.dimension * self._type.itemsize

    def as_stored(self, rows: NDArray[np.float32]) -> bytes:
        """The bytes that stand for rows.

        Raises:
            DataError: one holds no finite numbers, or greater ones than the type can hold.
        """
        with np.errstate(over="ignore"):  # what overflows is told
            stored = np.ascontiguousarray(rows, dtype=self._type)
        if not np.isfinite(stored).all():
            raise DataError(
                f"{self.folder}: the encoder gave numbers that are not finite as {self._type}; "
                "set trainer.encoder.dtype=float32 and trainer.encoder.stored_as=float32"
            )
        return stored.tobytes()


class StoreWriter:
    """Appends sessions to a store that is locked for it."""

    def __init__(
        self, store: EmbeddingStore, spans: dict[str, Span], lines: LineFile, rows: int
    ) -> None:
        self.spans = spans
        """Of all that is there, what is appended included."""
        self._store = store
        self._lines = lines
        self._rows = rows

    def append(self, chunk: Mapping[str, NDArray[np.float32]]) -> None:
        """Add the rows of sessions, by their digests: of all of them, or after a kill of none.

        Raises:
            DataError: a row holds no finite numbers.
        """
        found: dict[str, Span] = {}
        start = _end(self.spans)
        for session, rows in chunk.items():
            data = self._store.as_stored(rows)
            self._write(data)
            found[session] = Span(start, len(rows), _checksum(data))
            start += len(rows)
        os.fsync(self._rows)  # before the lines that say that they are there
        told = [json.dumps({"session": name, **span._asdict()}) for name, span in found.items()]
        self._lines.append("\n".join(told).encode())
        self.spans.update(found)

    def _write(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            left = left[os.write(self._rows, left) :]


def _checksum(rows: bytes) -> str:
    return blake2b(rows, digest_size=8).hexdigest()


def _end(spans: Mapping[str, Span]) -> int:
    """How many rows there are."""
    return max((span.end for span in spans.values()), default=0)
