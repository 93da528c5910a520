"""What the report says about a task beside its tree."""

from collections.abc import Mapping
from dataclasses import dataclass

from drl.types import JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskCard:
    """One (task, trial) as the report introduces it.

    `goals` are (kind, arguments) in the order of the task, so that positions in `open_goals` and
    in reward events point at them. `instructions` is the customer's brief, one line each.
    `score` is the one that counts in the summary; None is unscored.
    """

    task_id: str
    trial: int
    domains: tuple[str, ...]
    goals: tuple[tuple[str, Mapping[str, JSON]], ...]
    instructions: tuple[str, ...]
    score: float | None
