import asyncio
from collections.abc import Sequence

import pytest
from scripted import NO_JUDGE, CountingWorld, say, task_of

from drl.reward.goal_api import GoalApiReward
from drl.types import Failure, Goal, Role, Step, ToolCall, ToolResult, Turn


def agent_turn(*names: str, failure: Failure | None = None) -> Turn:
    calls = tuple(ToolCall(name, {}) for name in names)
    step = Step("", calls=calls, results=tuple(ToolResult("ok") for _ in names))
    return Turn(Role.AGENT, "done", (step, say("done")), failure=failure)


class BookFirst(CountingWorld):
    """A search is reached only once its booking is not open any more."""

    def achieves(
        self, goal: Goal, call: ToolCall, result: ToolResult, open_goals: Sequence[Goal]
    ) -> bool:
        books = any(other.kind == "book" for other in open_goals)
        return goal.kind == call.name and (goal.kind != "search" or not books)


@pytest.mark.parametrize(("against", "reached"), [("task", False), ("open", True)])
def test_a_call_is_judged_against_all_goals_or_the_open_ones(against, reached):
    task = task_of("search", "book")
    reward = GoalApiReward(judge_against=against)
    judgement = asyncio.run(
        reward.judge(task, BookFirst(), (), agent_turn("search"), (0,), NO_JUDGE)
    )
    assert (judgement.open_goals == ()) is reached


def test_rewards_of_a_dialogue_add_up_to_its_grade():
    task, world = task_of("a", "b", "b", "c"), CountingWorld()
    reward = GoalApiReward(judge_against="task")
    turns = [agent_turn("b", "x"), Turn(Role.USER, "more"), agent_turn("b", "b", "a")]
    total, open_goals = 0.0, (0, 1, 2, 3)
    for turn in turns:
        judgement = asyncio.run(reward.judge(task, world, (), turn, open_goals, NO_JUDGE))
        total += sum(event.amount for event in judgement.events)
        open_goals = judgement.open_goals
    # a, b and b of the four goals
    assert total == pytest.approx(3 / 4)
    assert asyncio.run(reward.grade(task, world, turns, NO_JUDGE)) == pytest.approx(total)
    assert open_goals == (3,)


def test_what_broke_or_has_no_goals_is_unscored_not_zero():
    reward = GoalApiReward(judge_against="task")
    broken = [agent_turn("a", failure=Failure("agent", "boom"))]
    assert asyncio.run(reward.grade(task_of("a"), CountingWorld(), broken, NO_JUDGE)) is None
    assert (
        asyncio.run(reward.grade(task_of(), CountingWorld(), [agent_turn("a")], NO_JUDGE)) is None
    )


def test_text_that_could_not_be_read_earns_nothing_and_breaks_nothing():
    unread = Step("gibberish", results=(ToolResult(None, error="no command found"),))
    turn = Turn(Role.AGENT, "sorry", (unread, say("sorry")))
    reward = GoalApiReward(judge_against="task")
    assert asyncio.run(reward.grade(task_of("a"), CountingWorld(), [turn], NO_JUDGE)) == 0
