"""A rollout with a stop-watch: what each one took goes into `timings.jsonl`."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pydantic_core
from pydantic import TypeAdapter, ValidationError

from drl.agent.base import Agent
from drl.errors import RunError
from drl.play.cast import Cast
from drl.rollout.base import Rollout
from drl.runtime.lines import LineFile, whole_lines
from drl.tree.dialogue_tree import DialogueTree
from drl.types import Task

FILE_NAME = "timings.jsonl"


@dataclass(frozen=True, slots=True)
class _Timing:
    """Seconds on the clock, and seconds that this thread worked since the last rollout ended."""

    task_id: str
    wall_s: float
    own_s: float


_TIMING = TypeAdapter(_Timing)


class TimedRollout(Rollout):
    """Another rollout, timed. With a concurrency of its own, which changes no tree."""

    def __init__(self, inner: Rollout, lines: LineFile, concurrency: int) -> None:
        self._inner = inner
        self._lines = lines
        self._worked = time.thread_time()
        self.is_search = inner.is_search
        self.cuts_branches = inner.cuts_branches
        self.max_steps = inner.max_steps
        self.concurrency = concurrency

    def check(self, agent: Agent) -> None:
        """What the other one says."""
        self._inner.check(agent)

    async def run(self, task: Task, trial: int, cast: Cast) -> DialogueTree:
        """The other one's tree; its time is written down as soon as it is there."""
        began = time.perf_counter()
        tree = await self._inner.run(task, trial, cast)
        wall, worked = time.perf_counter() - began, time.thread_time()
        timing = _Timing(task.id, round(wall, 6), round(worked - self._worked, 6))
        self._worked = worked
        self._lines.append(pydantic_core.to_json(timing))
        return tree


def read_timings(folder: Path) -> Mapping[str, tuple[float, float]]:
    """Task -> (wall seconds, own seconds); of several attempts the last counts.

    Raises:
        RunError: a line is damaged.
    """
    found: dict[str, tuple[float, float]] = {}
    for number, line in whole_lines(folder / FILE_NAME):
        try:
            timing = _TIMING.validate_json(line)
        except ValidationError as error:
            raise RunError(
                f"{folder / FILE_NAME}:{number}: not a timing; remove the folder, which costs no "
                "answer, and start the same command again"
            ) from error
        found[timing.task_id] = (timing.wall_s, timing.own_s)
    return found
