"""What was said in places of recorded conversations: by a policy, and by a human there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from drl.errors import ConfigError
from drl.runtime.run_dir import ROLLOUTS
from drl.tree.store import read_trees
from drl.turn_reward.session import Utterance
from drl.types import Role, Task

_MANY = 0.1
"""The share of replies of which a warning says that they are cut."""


@dataclass(frozen=True, slots=True)
class Said:
    """The reply to a context. `is_cut`: a limit of tokens ended it."""

    task: Task
    text: str
    is_cut: bool

    @property
    def utterances(self) -> Sequence[Utterance]:
        """The context and the reply."""
        before = [Utterance(turn.role, turn.text or "") for turn in self.task.opening]
        return [*before, Utterance(Role.AGENT, self.text)]


class SaidInRun(NamedTuple):
    """The replies of a run in the order of its file, and how many of its dialogues broke."""

    replies: list[Said]
    num_broken: int


def said_in(folder: Path, tasks: Sequence[Task]) -> SaidInRun:
    """What was said in a run of single replies to these contexts."""
    by_id = {task.id: task for task in tasks}
    found: list[Said] = []
    num_broken = 0
    for tree in read_trees(folder / ROLLOUTS):
        turn = next((n.turn for n in tree.nodes if n.turn.role is Role.AGENT), None)
        if turn is None or turn.failure is not None or turn.text is None:
            num_broken += 1
        else:
            is_cut = bool(turn.steps) and turn.steps[-1].is_cut
            found.append(Said(by_id[tree.task_id], turn.text, is_cut))
    return SaidInRun(found, num_broken)


def cuts_told(folder: Path, tasks: Sequence[Task]) -> list[str]:
    """A warning where a limit of tokens ended many replies of a run."""
    replies = said_in(folder, tasks).replies
    num_cut = sum(each.is_cut for each in replies)
    if num_cut <= _MANY * len(replies):
        return []
    return [
        f"warning: agent.max_tokens cut off {num_cut} of {len(replies)} replies of the start, and "
        "cut as they are they are measured, and paid in training; raise it."
    ]


def conversation_of(task: Task) -> str:
    """The conversation that a context is of.

    Raises:
        ConfigError: the dataset does not tell.
    """
    return _told(task, "conversation_id")


def human_reply_to(task: Task) -> str:
    """What a human said in this place.

    Raises:
        ConfigError: the dataset does not tell.
    """
    return _told(task, "human_reply")


def _told(task: Task, key: str) -> str:
    value = task.world.get(key) if isinstance(task.world, Mapping) else None
    if not isinstance(value, str):
        raise ConfigError(
            f"dataset: task {task.id} does not tell its {key}, which comparisons need; use "
            "dataset=candor"
        )
    return value
