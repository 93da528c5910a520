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


@dataclass(frozen=True, slots=True)
class OtherResult:
    """A call that gave something else than it gives here."""

    task_id: str
    trial: int
    tool: str
    arguments: Mapping[str, JSON]
    published: JSON
    ours: JSON


@dataclass(slots=True)
class Regrading:
    """How often grades agree, and where they do not; how many tools give something else here.

    Sums are over graded dialogues, but for `sum_of_tries`: that is what was published of all
    `num_tries`, of which those without a dialogue have 0.
    """

    num_tries: int = 0
    sum_of_tries: float = 0.0
    num_graded: int = 0
    num_equal: int = 0
    sum_published: float = 0.0
    sum_ours: float = 0.0
    num_calls: int = 0
    other_results: list[OtherResult] = field(default_factory=list)
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
            "n_tries": self.num_tries,
            "mean_published_of_all_tries": self.sum_of_tries / max(1, self.num_tries),
            "n_tool_calls": self.num_calls,
            "n_tool_calls_that_give_something_else_here": len(self.other_results),
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
    grades = [one.grade for one in published.values()]
    found = Regrading(num_tries=len(grades), sum_of_tries=sum(grades))
    for tree in trees:
        before = published.get((tree.task_id, tree.trial))
        leaf = tree.best_leaf()
        if before is None or leaf is None or leaf.score is None:
            continue
        task, turns = tasks[tree.task_id], tree.dialogue(leaf.id)
        num_calls, others = await _other_results(environment, task, tree.trial, turns)
        found.num_calls += num_calls
        found.other_results += others
        found.num_graded += 1
        found.sum_published += before.grade
        found.sum_ours += leaf.score
        if abs(before.grade - leaf.score) <= _EQUAL:
            found.num_equal += 1
            continue
        here = await score.explain(task, environment, turns)
        why = _why(here, before.why, len(others))
        found.differences.append(
            Difference(tree.task_id, tree.trial, before.grade, _score(leaf), why)
        )
    return found


async def _other_results(
    environment: Environment, task: Task, trial: int, turns: Iterable[Turn]
) -> tuple[int, list[OtherResult]]:
    """How many calls the agent made, and those of them that give something else here."""
    session = environment.open(task)
    num_calls = 0
    others: list[OtherResult] = []
    for turn in turns:
        if turn.role is Role.AGENT:
            for _, _, call, given in turn.executed():
                num_calls += 1
                ours = (await session.call(call)).value
                if ours != given.value:
                    others.append(
                        OtherResult(task.id, trial, call.name, call.arguments, given.value, ours)
                    )
    return num_calls, others


def _why(here: Mapping[str, JSON], there: Mapping[str, JSON], num_other: int) -> str:
    parts = [f"here {_told(here)}"]
    if there:
        parts.append(f"published {_told(there)}")
    if num_other:
        gave = "1 call gave" if num_other == 1 else f"{num_other} calls gave"
        parts.append(f"{gave} something else than here")
    return "; ".join(parts)


def _told(why: Mapping[str, JSON]) -> str:
    return ", ".join(f"{key}={json.dumps(value)}" for key, value in why.items())


def _score(leaf: Node) -> float:
    assert leaf.score is not None, "only scored dialogues are regraded"
    return leaf.score
