"""`rollouts.jsonl`: a line per (task, trial), append-only, one writer, safe to kill anytime."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from drl.errors import DataError
from drl.runtime.lines import LineFile, whole_lines
from drl.runtime.run_dir import ROLLOUTS
from drl.tree.codec import from_line, to_line
from drl.tree.dialogue_tree import DialogueTree

_Key = tuple[bytes, int]
_START = re.compile(rb'\s*\{\s*"task_id"\s*:\s*"((?:[^"\\]|\\.)*)"\s*,\s*"trial"\s*:\s*(\d+)\s*,')


class RolloutStore:
    """Appends trees to a file and knows which (task, trial) are done.

    A rollout in which everything broke runs again: of several attempts the last counts.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / ROLLOUTS
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
    """The last attempt of each (task, trial), one at a time, by task id and then trial.

    Rollouts finish in any order, so the order of the lines says nothing. Memory holds a key and a
    place a tree. A cut last line is passed over.

    Raises:
        DataError: a line in between is not a tree.
    """
    last: dict[_Key, tuple[int, int]] = {}
    place = 0
    for number, line in whole_lines(path):
        last[_key(line, number)] = (number, place)
        place += len(line)
    with path.open("rb") as lines:
        for _, (number, place) in sorted(last.items()):
            lines.seek(place)
            try:
                yield from_line(lines.readline())
            except DataError as error:
                raise DataError(
                    f"{path}:{number}: {error}; move the file away to start anew"
                ) from error


def _key(line: bytes, number: int) -> _Key:
    """Task and trial, as a line begins with them; cheaper than reading the tree.

    A line that begins otherwise is no tree, and comes before all trees.
    """
    start = _START.match(line)
    return (start[1], int(start[2])) if start else (b"", -number)
