"""`rollouts.jsonl`: a line per (task, trial), append-only, one writer, safe to kill anytime."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from drl.errors import DataError
from drl.runtime.lines import LineFile, whole_lines
from drl.tree.codec import from_line, to_line
from drl.tree.dialogue_tree import DialogueTree

FILE_NAME = "rollouts.jsonl"
_START = re.compile(rb'\{"task_id":"((?:[^"\\]|\\.)*)","trial":(\d+),')


class RolloutStore:
    """Appends trees to a file and knows which (task, trial) are done.

    A rollout in which everything broke runs again: of several attempts the last counts.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE_NAME
        self.done: set[tuple[str, int]] = set()
        self._lines = LineFile(self.path)

    def __enter__(self) -> RolloutStore:
        self._lines.__enter__()
        trees = read_trees(self.path)
        self.done = {(tree.task_id, tree.trial) for tree in trees if not tree.is_broken}
        return self

    def __exit__(self, *failure: object) -> None:
        self._lines.__exit__(*failure)

    def append(self, tree: DialogueTree) -> None:
        """Store a finished tree.

        Raises:
            RunError: the disk is full or gone; what was stored before is intact.
        """
        self._lines.append(to_line(tree))
        self.done.add((tree.task_id, tree.trial))


def read_trees(path: Path) -> Iterator[DialogueTree]:
    """The last attempt of each (task, trial), one at a time; a cut last line is passed over.

    Raises:
        DataError: a line in between is not a tree.
    """
    last = {_key(line) or number: number for number, line in whole_lines(path)}
    wanted = set(last.values())
    for number, line in whole_lines(path):
        if number in wanted:
            try:
                yield from_line(line)
            except DataError as error:
                raise DataError(
                    f"{path}:{number}: {error}; move the file away to start anew"
                ) from error


def _key(line: bytes) -> tuple[bytes, bytes] | None:
    """Task and trial, as a line begins with them; cheaper than reading the tree."""
    start = _START.match(line)
    return (start[1], start[2]) if start else None
