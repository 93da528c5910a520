"""What `drl resample` found out about the nodes of a run's trees."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from drl.errors import DataError
from drl.runtime.lines import whole_lines
from drl.tree.chance import Chance

_CERTAIN = 10_000
"""Tries that stand for knowing: of a branch that is over nothing is left to chance."""


@dataclass(frozen=True, slots=True)
class _Line:
    """What is used of a line of `branches.jsonl`."""

    task_id: str
    trial: int
    node: int
    earned: bool
    over: bool
    tries: int
    hits: int


_LINE = TypeAdapter(_Line)


def read_chances(run: Path) -> Mapping[tuple[str, int], Mapping[int, Chance]]:
    """By task and trial the chances of nodes, over all resamplings of a run; seeds differ, so
    their continuations add up.

    Raises:
        DataError: a file of a resampling is damaged.
    """
    hits: dict[tuple[str, int, int], list[int]] = defaultdict(lambda: [0, 0])
    certain: dict[tuple[str, int, int], bool] = {}
    for path in sorted(run.glob("resample-*/branches.jsonl")):
        for number, text in whole_lines(path):
            try:
                line = _LINE.validate_json(text)
            except ValidationError as error:
                raise DataError(
                    f"{path}:{number}: not a line of a resampling; start `drl resample` again"
                ) from error
            key = (line.task_id, line.trial, line.node)
            if line.over:
                certain[key] = line.earned
            else:
                hits[key][0] += line.hits
                hits[key][1] += line.tries
    found: dict[tuple[str, int], dict[int, Chance]] = defaultdict(dict)
    for (task_id, trial, node), earned in certain.items():
        found[task_id, trial][node] = Chance.after(_CERTAIN * earned, _CERTAIN)
    for (task_id, trial, node), (num_hits, num_tries) in hits.items():
        if num_tries:
            found[task_id, trial][node] = Chance.after(num_hits, num_tries)
    return dict(found)
