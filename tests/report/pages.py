"""Reports written for a test, and the addresses of what they show."""

from pathlib import Path
from urllib.parse import urlencode

from drl.report.html import write_report
from drl.report.task_card import TaskCard
from drl.tree.dialogue_tree import DialogueTree


def place(card: TaskCard, **more: object) -> str:
    """The address of a task's page."""
    return "#" + urlencode({"task": card.task_id, "trial": card.trial, **more})


def report(
    path: Path,
    trees: list[tuple[TaskCard, DialogueTree]],
    *,
    title: str = "a run",
    **summary: object,
) -> Path:
    """A report in the folder `path`; further keywords are its summary."""
    write_report(path / "report.html", title, summary, trees)  # pyright: ignore[reportArgumentType]
    return path / "report.html"


def plain_card(task_id: str, *goals: str) -> TaskCard:
    """A task of which only its goals are known."""
    return TaskCard(
        task_id=task_id,
        trial=0,
        domains=(),
        goals=tuple((goal, {}) for goal in goals),
        instructions=(),
        score=None,
    )
