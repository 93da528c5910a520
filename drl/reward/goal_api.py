"""Sparse goals: a reward for every goal that a tool call reaches (arXiv:2409.04617)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from drl.environment.base import Environment
from drl.llm.base import LLM
from drl.reward.base import Judgement, Reward
from drl.types import Goal, RewardEvent, Role, Task, ToolCall, ToolResult, Turn


@dataclass(kw_only=True)
class GoalApiReward(Reward):
    """Pays 1 / number of goals for each goal, once; goals form a multiset.

    `judge_against` decides what else is open when a call is judged. `task`: always all goals, so
    that the rewards of a dialogue add up to its grade. `open`: only those that no earlier turn
    reached, as in josh-train's rollouts, where a search need not return the booked entity any
    more once it is booked.
    """

    closes_goals = True

    judge_against: Literal["task", "open"]

    async def judge(
        self,
        task: Task,
        environment: Environment,
        before: Sequence[Turn],
        turn: Turn,
        open_goals: tuple[int, ...],
        llm: LLM,
    ) -> Judgement:
        """Every goal that this turn reached, each with the call that reached it."""
        context = (
            task.goals
            if self.judge_against == "task"
            else [task.goals[index] for index in open_goals]
        )
        still_open = list(open_goals)
        events: list[RewardEvent] = []
        for step, position, call, result in turn.executed():
            for index in _reached(task, environment, call, result, still_open, context):
                still_open.remove(index)
                detail = {"goal": index, "kind": call.name, "step": step, "call": position}
                events.append(RewardEvent(1 / len(task.goals), "goal", detail))
        return Judgement(tuple(events), tuple(still_open))

    async def grade(
        self, task: Task, environment: Environment, dialogue: Sequence[Turn], llm: LLM
    ) -> float | None:
        """Share of the goals reached over all calls; unscored without goals or when it broke."""
        if not task.goals or any(turn.failure for turn in dialogue):
            return None
        still_open = list(range(len(task.goals)))
        for turn in dialogue:
            for _, _, call, result in turn.executed() if turn.role is Role.AGENT else ():
                for index in _reached(task, environment, call, result, still_open, task.goals):
                    still_open.remove(index)
        return 1 - len(still_open) / len(task.goals)


def _reached(
    task: Task,
    environment: Environment,
    call: ToolCall,
    result: ToolResult,
    still_open: Sequence[int],
    context: Sequence[Goal],
) -> list[int]:
    """The open goals that this call reaches; of equal goals only the first."""
    reached: list[int] = []
    for index in still_open:
        goal = task.goals[index]
        if any(goal == task.goals[other] for other in reached):
            continue
        if environment.achieves(goal, call, result, context):
            reached.append(index)
    return reached
