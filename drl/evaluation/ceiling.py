"""The ceiling of a benchmark: what an agent earns that calls exactly what every goal asks for.

No model takes part, so what is missing cannot be won: the data contradicts itself, or a bug of
the published environment is in the way.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from drl.environment.base import Environment
from drl.types import Task, ToolCall, ToolResult


@dataclass(frozen=True, slots=True)
class Missed:
    """A goal (its position in the task) that its own exact call does not reach, and why."""

    goal: int
    kind: str
    cause: str


@dataclass(frozen=True, slots=True)
class Replay:
    """What the exact calls of one task earn; a task without goals has no reward."""

    task_id: str
    reward: float | None
    missed: tuple[Missed, ...]


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The replays of many tasks; tasks without goals count in neither average."""

    replays: tuple[Replay, ...]

    @property
    def rewards(self) -> list[float]:
        """Share of goals reached, for each task that has goals."""
        return [replay.reward for replay in self.replays if replay.reward is not None]

    @property
    def mean_reward(self) -> float | None:
        """Average reward; None where no task has goals."""
        return sum(self.rewards) / len(self.rewards) if self.rewards else None

    @property
    def full_success(self) -> float | None:
        """Share of tasks with all goals reached; None where no task has goals."""
        full = sum(reward == 1.0 for reward in self.rewards)
        return full / len(self.rewards) if self.rewards else None

    def missed(self) -> Mapping[tuple[str, str], int]:
        """How many goals of each (kind, cause) cannot be won, most frequent first."""
        counts = Counter(
            (missed.kind, missed.cause) for replay in self.replays for missed in replay.missed
        )
        return dict(counts.most_common())


async def replay(task: Task, environment: Environment) -> Replay:
    """Call exactly what each goal asks for, in order, and see which goals that reaches."""
    session = environment.open(task)
    done: list[tuple[ToolCall, ToolResult]] = []
    for goal in task.goals:
        call = environment.exact_call(goal)
        done.append((call, await session.call(call)))
    missed = tuple(
        Missed(position, goal.kind, environment.explain(task, goal, done[position][1]))
        for position, goal in enumerate(task.goals)
        if not any(environment.achieves(goal, *attempt, task.goals) for attempt in done)
    )
    reward = 1 - len(missed) / len(task.goals) if task.goals else None
    return Replay(task.id, reward, missed)


async def ceiling(tasks: Sequence[Task], environment: Environment) -> Ceiling:
    """The replays of all tasks, in order."""
    return Ceiling(tuple([await replay(task, environment) for task in tasks]))
