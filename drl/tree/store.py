"""`rollouts.jsonl`: a line per (task, trial), append-only, one writer, safe to kill anytime."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from drl.errors import DataError, RunError
from drl.tree.codec import from_line, to_line
from drl.tree.dialogue_tree import DialogueTree

FILE_NAME = "rollouts.jsonl"
_START = re.compile(rb'\{"task_id":"((?:[^"\\]|\\.)*)","trial":(\d+),')


class RolloutStore:
    """Appends trees to a file and knows which (task, trial) are done.

    A line counts once its line break is written. A cut last line, as a kill leaves it, is dropped
    when the store is opened; its rollout simply runs again. So does one in which everything broke:
    of several attempts the last counts.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE_NAME
        self.done: set[tuple[str, int]] = set()
        self._file: int | None = None

    def __enter__(self) -> RolloutStore:
        try:
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
            os.ftruncate(self._file, _end_of_last_line(self.path))
        except OSError as error:
            raise RunError(f"{self.path}: cannot be written ({error.strerror})") from error
        trees = read_trees(self.path)
        self.done = {(tree.task_id, tree.trial) for tree in trees if not tree.is_broken}
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._file is not None
        os.close(self._file)
        self._file = None

    def append(self, tree: DialogueTree) -> None:
        """Store a finished tree.

        Raises:
            RunError: the disk is full or gone; what was stored before is intact.
        """
        assert self._file is not None, "the store is open"
        line = to_line(tree) + b"\n"
        size = os.fstat(self._file).st_size
        try:
            written = os.write(self._file, line)
            while written < len(line):
                written += os.write(self._file, line[written:])
        except OSError as error:
            os.ftruncate(self._file, size)
            raise RunError(
                f"{self.path}: cannot be written ({error.strerror}); {len(self.done)} rollouts are "
                "safe; make room and start the same command again"
            ) from error
        self.done.add((tree.task_id, tree.trial))


def read_trees(path: Path) -> Iterator[DialogueTree]:
    """The last attempt of each (task, trial), one at a time; a cut last line is passed over.

    Raises:
        DataError: a line in between is not a tree.
    """
    last = {_key(line) or number: number for number, line in _whole_lines(path)}
    wanted = set(last.values())
    for number, line in _whole_lines(path):
        if number in wanted:
            try:
                yield from_line(line)
            except DataError as error:
                raise DataError(
                    f"{path}:{number}: {error}; move the file away to start anew"
                ) from error


def _whole_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if line.endswith(b"\n"):
                yield number, line


def _key(line: bytes) -> tuple[bytes, bytes] | None:
    """Task and trial, as a line begins with them; cheaper than reading the tree."""
    start = _START.match(line)
    return (start[1], start[2]) if start else None


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
