"""Embeddings of sessions in a folder: rows on disk, and which of them are whose.

Rows are appended to one file of plain numbers, and a line about each session is written after its
rows. So a session counts once all of it is there, and what a kill leaves of another is written
over. A session is known by what was said in it, so the same id with other words is another one.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from filelock import FileLock, Timeout

from drl.errors import DataError
from drl.runtime.lines import LineFile, whole_lines
from drl.types import JSON

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LOG = logging.getLogger(__name__)

_ROWS = "rows.bin"
_INDEX = "sessions.jsonl"
_ABOUT = "about.json"


class Span(NamedTuple):
    """Rows of one session: the first, and how many."""

    start: int
    num_rows: int


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
        try:
            folder.mkdir(parents=True, exist_ok=True)
            text = json.dumps(about, indent=2)
            (folder / _ABOUT).write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            raise self._unwritable(error) from error

    def spans(self) -> dict[str, Span]:
        """Where the rows of each finished session are, by its digest."""
        index = self.folder / _INDEX
        if not index.is_file():
            return {}
        found: dict[str, Span] = {}
        try:
            for _, line in whole_lines(index):
                told = json.loads(line)
                found[str(told["session"])] = Span(int(told["start"]), int(told["num_rows"]))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise DataError(
                f"{index}: cannot be read ({error}); remove {self.folder} to embed anew"
            ) from error
        return found

    def matrix(self) -> NDArray[np.floating]:
        """All rows [N, d], read-only and mapped: only what is looked at is in memory.

        Raises:
            DataError: the file is shorter than the index says.
        """
        num_rows = _end(self.spans())
        if num_rows == 0:
            return np.empty((0, self.dimension), dtype=self._type)
        rows = self.folder / _ROWS
        size = num_rows * self._row_size
        if not rows.is_file() or rows.stat().st_size < size:
            raise DataError(
                f"{rows}: holds less than {size} bytes, so it was cut; remove {self.folder} to "
                "embed anew"
            )
        return np.memmap(rows, dtype=self._type, mode="r", shape=(num_rows, self.dimension))

    @contextmanager
    def writing(self) -> Iterator[StoreWriter]:
        """Room to append; one process at a time has it, and others wait.

        Raises:
            DataError: the disk is full or cannot be written.
        """
        lock = FileLock(self.folder / ".lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            _LOG.warning("%s: another process embeds there; waiting for it", self.folder)
            lock.acquire()
        try:
            with LineFile(self.folder / _INDEX) as lines, (self.folder / _ROWS).open("ab") as rows:
                rows.truncate(_end(self.spans()) * self._row_size)
                yield StoreWriter(self, lines, rows.fileno())
        except OSError as error:
            raise self._unwritable(error) from error
        finally:
            lock.release()

    @property
    def _row_size(self) -> int:
        return self.dimension * self._type.itemsize

    def as_stored(self, rows: NDArray[np.float32]) -> bytes:
        """The bytes that stand for rows."""
        return np.ascontiguousarray(rows, dtype=self._type).tobytes()

    def _unwritable(self, error: OSError) -> DataError:
        return DataError(
            f"{self.folder}: cannot be written ({error.strerror}); make room, or choose another "
            "folder with data_dir=DIR; what is in it is kept"
        )


class StoreWriter:
    """Appends sessions to a store that is locked for it."""

    def __init__(self, store: EmbeddingStore, lines: LineFile, rows: int) -> None:
        self.spans = store.spans()
        """Of all that is there, what is appended included."""
        self._store = store
        self._lines = lines
        self._rows = rows

    def append(self, session: str, rows: NDArray[np.float32]) -> None:
        """Add the rows of a session, by its digest."""
        span = Span(_end(self.spans), len(rows))
        data = memoryview(self._store.as_stored(rows))
        while data:
            data = data[os.write(self._rows, data) :]
        os.fsync(self._rows)  # before the line that says that they are there
        told = {"session": session, **span._asdict()}
        self._lines.append(json.dumps(told).encode())
        self.spans[session] = span


def _end(spans: Mapping[str, Span]) -> int:
    """How many rows there are."""
    return max((span.start + span.num_rows for span in spans.values()), default=0)
