"""A user's certificate: the measures of its dialogues with one agent, held against limits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from drl.evaluation.intervals import Estimate, mean_over_tasks, to_json
from drl.evaluation.user_fidelity import MEASURES, Fidelity, Finding, fidelity
from drl.tree.dialogue_tree import DialogueTree
from drl.types import JSON, Role, Task

_EXAMPLES = 5
"""Findings of each measure that a certificate names."""


@dataclass(frozen=True, slots=True)
class Row:
    """One measure with one agent; `estimate` is None where no dialogue gave occasion."""

    measure: str
    limit: float
    estimate: Estimate | None
    examples: tuple[tuple[str, Finding], ...]

    @property
    def is_broken(self) -> bool:
        """Whether the mean lies beyond the limit."""
        if self.estimate is None:
            return False
        beyond = self.limit - self.estimate.value
        return beyond > 0 if self.measure == "goal_coverage" else beyond < 0

    def to_json(self) -> dict[str, JSON]:
        """As `summary.json` holds it."""
        examples = [
            {"task": task, "turn": finding.turn, "what": finding.what}
            for task, finding in self.examples
        ]
        return {
            "estimate": to_json(self.estimate),
            "limit": self.limit,
            "passed": not self.is_broken,
            "examples": examples,
        }


def rows(
    tasks: Mapping[str, Task], trees: Iterable[DialogueTree], limits: Mapping[str, float]
) -> list[Row]:
    """The measures of all dialogues; those that broke on the agent's side say nothing of the user.

    Args:
        tasks: by id.
        trees: the dialogues, any number a tree.
        limits: by measure; the least for goal coverage, the most for all others.
    """
    values: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    examples: dict[str, list[tuple[str, Finding]]] = defaultdict(list)
    for tree in trees:
        for measured in _measured(tasks[tree.task_id], tree):
            for name, number in measured.numbers().items():
                if number is not None:
                    values[name][tree.task_id].append(number)
            for finding in measured.findings:
                examples[finding.measure].append((tree.task_id, finding))
    return [
        Row(name, limits[name], mean_over_tasks(values[name]), tuple(examples[name][:_EXAMPLES]))
        for name in MEASURES
    ]


def _measured(task: Task, tree: DialogueTree) -> Iterable[Fidelity]:
    for leaf in tree.leaves():
        failure = leaf.turn.failure
        if failure is None or leaf.turn.role is Role.USER:
            yield fidelity(task, tree.dialogue(leaf.id), leaf.stop, len(leaf.open_goals))


def broken_rules(agent: str, found: Sequence[Row]) -> list[str]:
    """A line for each limit that is broken: the number, the rule, and where to look."""
    lines = []
    for row in found:
        if not row.is_broken or row.estimate is None:
            continue
        is_least = row.measure == "goal_coverage"
        bound = f"trainer.{'min' if is_least else 'max'}_{row.measure}={row.limit}"
        value = row.estimate
        line = (
            f"{row.measure} with agent {agent} is {value.value:.3f} ({value.low:.3f} to "
            f"{value.high:.3f}, n={value.n}), {'below' if is_least else 'above'} {bound}"
        )
        if row.examples:
            task, finding = row.examples[0]
            line += f"; task {task}, turn {finding.turn}: the user {finding.what}"
        lines.append(" ".join(line.split()))
    return lines


def print_certificate(summary: Mapping[str, JSON], found: Mapping[str, Sequence[Row]]) -> None:
    """All measures by agent, and the verdict."""
    table = Table(show_edge=False)
    table.add_column(str(summary["name"]))
    for column in ("mean", "95 % interval", "n", "limit", ""):
        table.add_column(column, justify="right")
    for agent, its in found.items():
        table.add_section()
        for row in its:
            name = f"{agent}: {row.measure.replace('_', ' ')}"
            limit = f"{'>=' if row.measure == 'goal_coverage' else '<='} {row.limit}"
            if row.estimate is None:
                table.add_row(name, "", "", "0", limit, "not judged")
                continue
            mean = row.estimate
            interval = f"{mean.low:.3f} to {mean.high:.3f}"
            verdict = "broken" if row.is_broken else "kept"
            table.add_row(name, f"{mean.value:.3f}", interval, str(mean.n), limit, verdict)
    console = Console(highlight=False, soft_wrap=True)
    console.print(table)
    verdict = "passes" if summary["passed"] else "does not pass"
    console.print(f"{summary['user']} {verdict}.", markup=False)


def print_place(folder: Path) -> None:
    """Where the dialogues can be read."""
    console = Console(highlight=False, soft_wrap=True)
    console.print(f"Dialogues: {folder}, a folder with a report for each agent", markup=False)
