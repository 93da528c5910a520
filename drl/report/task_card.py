"""What the report says about a task beside its tree."""

from collections.abc import Mapping
from dataclasses import dataclass

from drl.tree.dialogue_tree import DialogueTree
from drl.types import JSON, Task

_TITLE = 100
"""Characters of a title: more than a line shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskCard:
    """One (task, trial) as the report introduces it.

    `goals` are (kind, arguments) in the order of the task, so that positions in `open_goals` and
    in reward events point at them. `instructions` is the customer's brief, one line each.
    `title` tells tasks apart whose ids are mere numbers: what the customer says first, where it has
    no brief. `score` is the one that counts in the summary; None is unscored.
    """

    task_id: str
    trial: int
    domains: tuple[str, ...]
    goals: tuple[tuple[str, Mapping[str, JSON]], ...]
    instructions: tuple[str, ...]
    score: float | None
    title: str = ""


def card_of(task: Task, tree: DialogueTree) -> TaskCard:
    """The card of a tree, by its task."""
    best = tree.best_leaf()
    brief = task.brief
    return TaskCard(
        task_id=task.id,
        trial=tree.trial,
        domains=tuple(dict.fromkeys(goal.domain for goal in task.goals)),
        goals=tuple((goal.kind, goal.arguments) for goal in task.goals),
        instructions=task.brief.instructions,
        score=best.score if best else None,
        title="" if brief.instructions else next(iter(brief.human_turns), "")[:_TITLE],
    )
