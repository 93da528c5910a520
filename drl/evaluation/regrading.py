"""Whether grades that were published with dialogues are the grades that we give them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field

from drl.environment.base import Environment
from drl.reward.base import Reward
from drl.tree.dialogue_tree import DialogueTree, Node
from drl.types import JSON, Role, Task, Turn

_EQUAL = 1e-6


@dataclass(frozen=True, slots=True)
class Published:
    """A grade as it was published, and what was told of how it came about."""

    grade: float
    why: Mapping[str, JSON] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Difference:
    """A dialogue with two grades; `why` is what each of them came of."""

    task_id: str
    trial: int
    published: float
    ours: float
    why: str


@dataclass(slots=True)
class Regrading:
    """How often grades agree, and where they do not.

    `num_other_results` counts calls of tools that gave something else than they give here.
    """

    num_graded: int = 0
    num_equal: int = 0
    sum_published: float = 0.0
    sum_ours: float = 0.0
    num_calls: int = 0
    num_other_results: int = 0
    differences: list[Difference] = field(default_factory=list)

    def to_json(self) -> dict[str, JSON]:
        """The numbers, and all differences."""
        n = self.num_graded
        return {
            "n_graded": n,
            "n_equal": self.num_equal,
            "agreement": self.num_equal / n if n else None,
            "mean_published": self.sum_published / n if n else None,
            "mean_ours": self.sum_ours / n if n else None,
            "n_tool_calls": self.num_calls,
            "n_tool_calls_that_give_something_else_here": self.num_other_results,
            "differences": [asdict(difference) for difference in self.differences],
        }


async def regrade(
    tasks: Mapping[str, Task],
    trees: Iterable[DialogueTree],
    published: Mapping[tuple[str, int], Published],
    environment: Environment,
    score: Reward,
) -> Regrading:
    """Hold the scores of trees of one dialogue each against what was published for them.

    What is not scored, or was not published, does not count.
    """
    found = Regrading()
    for tree in trees:
        before = published.get((tree.task_id, tree.trial))
        leaf = tree.best_leaf()
        if before is None or leaf is None or leaf.score is None:
            continue
        task, turns = tasks[tree.task_id], tree.dialogue(leaf.id)
        num_calls, num_other = await _other_results(environment, task, turns)
        found.num_calls += num_calls
        found.num_other_results += num_other
        found.num_graded += 1
        found.sum_published += before.grade
        found.sum_ours += leaf.score
        if abs(before.grade - leaf.score) <= _EQUAL:
            found.num_equal += 1
            continue
        here = await score.explain(task, environment, turns)
        why = _why(here, before.why, num_other)
        found.differences.append(
            Difference(tree.task_id, tree.trial, before.grade, _score(leaf), why)
        )
    return found


async def _other_results(
    environment: Environment, task: Task, turns: Iterable[Turn]
) -> tuple[int, int]:
    """How many calls the agent made, and how many of them give something else here."""
    session = environment.open(task)
    num_calls = num_other = 0
    for turn in turns:
        if turn.role is Role.AGENT:
            for _, _, call, given in turn.executed():
                num_calls += 1
                num_other += (await session.call(call)).value != given.value
    return num_calls, num_other


def _why(here: Mapping[str, JSON], there: Mapping[str, JSON], num_other: int) -> str:
    parts = [f"here {_told(here)}"]
    if there:
        parts.append(f"published {_told(there)}")
    if num_other:
        parts.append(f"{num_other} calls gave something else than they give here")
    return "; ".join(parts)


def _told(why: Mapping[str, JSON]) -> str:
    return ", ".join(f"{key}={json.dumps(value)}" for key, value in why.items())


def _score(leaf: Node) -> float:
    assert leaf.score is not None, "only scored dialogues are regraded"
    return leaf.score
