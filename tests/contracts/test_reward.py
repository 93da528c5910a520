import asyncio
from pathlib import Path

import pytest
import required
from hypothesis import given
from hypothesis import strategies as st
from scripted import CountingWorld, task_of
from scripted_llm import says

from drl.reward.base import Reward
from drl.runtime.compose import compose, options
from drl.runtime.config import build, to_plain
from drl.types import Failure, Role, Step, ToolCall, ToolResult, Turn

CONF = Path(__file__).parents[2] / "conf"
KINDS = ("a", "b", "c")
JUDGE = says("Grade: [[7]]")


@pytest.fixture(params=options(CONF, "reward"), scope="module")
def reward(request) -> Reward:
    built = build(
        "reward", to_plain(compose(CONF, required.choice("reward", request.param)))["reward"]
    )
    assert isinstance(built, Reward)
    return built


def turn_of(names: list[str]) -> Turn:
    calls = tuple(ToolCall(name, {}) for name in names)
    called = Step("", calls=calls, results=(ToolResult(1),) * len(calls))
    said = ", ".join(names)
    return Turn(Role.AGENT, said, (called, Step(said, reply=said)))


@given(
    goals=st.lists(st.sampled_from(KINDS), min_size=1, max_size=6),
    turns=st.lists(st.lists(st.sampled_from((*KINDS, "x")), max_size=4), max_size=5),
)
def test_turn_rewards_add_up_to_the_grade(reward, goals, turns):
    task, world = task_of(*goals), CountingWorld()
    dialogue = [turn_of(names) for names in turns]
    open_goals, total = tuple(range(len(goals))), 0.0
    for place, turn in enumerate(dialogue):
        judgement = asyncio.run(
            reward.judge(task, world, dialogue[:place], turn, open_goals, JUDGE)
        )
        assert set(judgement.open_goals) <= set(open_goals)
        total += sum(event.amount for event in judgement.events)
        assert reward.closes_goals or judgement.open_goals == open_goals
        open_goals = judgement.open_goals
    if reward.sums_up:
        grade = asyncio.run(reward.grade(task, world, dialogue, JUDGE))
        assert grade == pytest.approx(total)


def test_the_customer_earns_nothing_and_what_broke_is_unscored(reward):
    task, world = task_of("a"), CountingWorld()
    judgement = asyncio.run(reward.judge(task, world, (), Turn(Role.USER, "a"), (0,), JUDGE))
    assert judgement.events == ()
    broken = Turn(Role.AGENT, "", failure=Failure("agent", "boom"))
    assert asyncio.run(reward.grade(task, world, [broken], JUDGE)) is None
