"""The agent that is told the goals, and the one that gets them wrong now and then."""

import asyncio
from dataclasses import replace

import pytest
from mining.forest import agent_of
from scripted import cast_of, josh

from drl.agent.base import Agent, Situation
from drl.agent.oracle import OracleAgent
from drl.errors import ConfigError
from drl.llm.base import NoLLM
from drl.rollout.single import SingleRollout
from drl.types import Brief, Goal, Role, Step, StopReason, Task, Toolbox, ToolCall, Turn

GOALS = (
    Goal("cancel", "retail", {"order_id": "#W1", "reason": "no longer needed"}),
    Goal("look", "retail", {}),
    Goal("refund", "retail", {"amount": 5}, {"outputs": ["54.04", "blue"]}),
)
TASK = Task("t", "test", Brief(("Do it.",)), GOALS)


def act(
    agent: Agent,
    seed: int = 0,
    goals: tuple[Goal, ...] = GOALS,
    *,
    made: Step | None = None,
    must_reply: bool = False,
) -> Step:
    asked = (Turn(Role.USER, "Help me."),)
    steps = () if made is None else (made,)
    situation = Situation(asked, steps, Toolbox(()), seed, must_reply, goals)
    return asyncio.run(agent.act(situation, NoLLM("llm")))


def test_it_calls_goals_in_order_and_then_says_what_had_to_be_said():
    rollout = SingleRollout(max_steps=2, max_calls=None, concurrency=1)
    cast = cast_of(OracleAgent(max_tool_calls=3, slip=0.0))
    tree = asyncio.run(rollout.run(TASK, 0, cast))
    turn = tree.nodes[1].turn
    assert [call.name for _, _, call, _ in turn.executed()] == ["cancel", "look", "refund"]
    assert turn.text == "I have taken care of that: 54.04, blue."


def test_without_anything_to_be_said_its_reply_is_always_the_same():
    goals = (replace(GOALS[0], details={"outputs": "none"}), replace(GOALS[1], details={"x": [1]}))
    done = Step("x", calls=tuple(ToolCall(goal.kind, goal.arguments) for goal in goals))
    step = act(OracleAgent(max_tool_calls=3, slip=0.0), goals=goals, made=done)
    assert step.reply == "I have taken care of that."


def test_it_does_not_say_that_all_is_done_before_it_is():
    step = act(OracleAgent(max_tool_calls=3, slip=0.0), must_reply=True)
    assert step.reply == "Let me go on with that."


def test_the_erring_one_does_the_next_thing_most_of_the_time_and_two_other_things_else():
    agent = agent_of("oracle/erring")
    assert agent.explores
    steps = [act(agent, seed) for seed in range(400)]
    right = sum(step.calls == (agent_call(),) for step in steps)
    waits = sum(step.reply is not None for step in steps)
    wrong = [step.calls[0] for step in steps if step.calls and step.calls != (agent_call(),)]
    # slip 0.4, half of it put off: 240, 80 and 80 of 400, give or take three deviations (10, 8, 8)
    assert abs(right - 240) < 30
    assert abs(waits - 80) < 25
    assert abs(len(wrong) - 80) < 25
    for call in wrong:
        assert call.name == "cancel"
        changed = [key for key, value in GOALS[0].arguments.items() if call.arguments[key] != value]
        assert len(changed) == 1


def agent_call():
    return act(OracleAgent(max_tool_calls=3, slip=0.0)).calls[0]


def test_a_goal_without_arguments_can_only_be_put_off():
    agent = OracleAgent(max_tool_calls=3, slip=0.9)
    steps = [act(agent, seed, goals=GOALS[1:2]) for seed in range(50)]
    assert {step.reply for step in steps if not step.calls} == {"Let me come back to that."}
    assert all(step.calls[0].name == "look" for step in steps if step.calls)


def test_it_slips_alike_with_the_same_seed():
    agent = agent_of("oracle/erring")
    assert [act(agent, seed) for seed in range(30)] == [act(agent, seed) for seed in range(30)]


def test_a_search_finds_all_goals_with_the_erring_one():
    agent = agent_of("oracle/erring")
    tree = asyncio.run(josh(beam_size=4).run(TASK, 0, cast_of(agent)))
    assert StopReason.GOALS_REACHED in {leaf.stop for leaf in tree.leaves()}


@pytest.mark.parametrize("slip", [-0.1, 1.0, float("nan")])
def test_a_slip_that_is_no_chance_is_refused(slip):
    with pytest.raises(ConfigError, match=r"agent\.slip=.* must lie in \[0, 1\)"):
        OracleAgent(max_tool_calls=3, slip=slip)
