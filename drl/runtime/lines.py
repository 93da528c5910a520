"""An append-only file of lines: one writer, safe to kill anytime, whole lines only."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from drl.errors import RunError


class LineFile:
    """A file that grows by whole lines.

    A line counts once its line break is written; a cut last line, as a kill leaves it, is dropped
    when the file is opened.

    Raises:
        RunError: the file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: int | None = None

    def __enter__(self) -> LineFile:
        try:
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
            os.ftruncate(self._file, _end_of_last_line(self.path))
        except OSError as error:
            raise RunError(f"{self.path}: cannot be written ({error.strerror})") from error
        return self

    def __exit__(self, *failure: object) -> None:
        assert self._file is not None
        os.close(self._file)
        self._file = None

    def append(self, line: bytes) -> None:
        """Add one line, given without its break.

        Raises:
            RunError: the disk is full or gone; what was written before is intact.
        """
        assert self._file is not None, "the file is open"
        line += b"\n"
        size = os.fstat(self._file).st_size
        try:
            written = os.write(self._file, line)
            while written < len(line):
                written += os.write(self._file, line[written:])
        except OSError as error:
            os.ftruncate(self._file, size)
            raise RunError(
                f"{self.path}: cannot be written ({error.strerror}); what is in it is safe; make "
                "room and start the same command again"
            ) from error


def whole_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The finished lines of a file with their numbers from 1, line breaks included."""
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if line.endswith(b"\n"):
                yield number, line


def _end_of_last_line(path: Path) -> int:
    """Bytes up to and including the last line break."""
    block = 1 << 16
    with path.open("rb") as file:
        end = file.seek(0, os.SEEK_END)
        while end > 0:
            start = max(0, end - block)
            file.seek(start)
            found = file.read(end - start).rfind(b"\n")
            if found >= 0:
                return start + found + 1
            end = start
    return 0
