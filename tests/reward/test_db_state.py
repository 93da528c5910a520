"""The grade of tau-bench, over a miniature shop; the numbers of real data are in tests/tau."""

import asyncio
from dataclasses import replace

import pytest
from scripted import NO_JUDGE, CountingWorld
from scripted import task_of as foreign_task
from tau.miniature import task_of

from drl.domains.tau.gold import Action
from drl.domains.tau.world import Scene
from drl.environment.tau import TauEnvironment
from drl.reward.base import RewardError
from drl.reward.db_state import DbStateReward
from drl.types import Failure, Role, Step, Task, ToolCall, ToolResult, Turn

FAITHFUL = TauEnvironment(mode="faithful")
CANCEL = ("cancel_pending_order", {"order_id": "#W1", "reason": "no longer needed"})
LOOK = ("get_order_details", {"order_id": "#W1"})
TRANSFER = ("transfer_to_human_agents", {"summary": ""})
BYE = Turn(Role.USER, "Bye.", hangs_up=True)


def reward(**changes) -> DbStateReward:
    settings = {"rules": "tau1", "must_end": True}
    return DbStateReward(**settings | changes)


def shop(*gold: tuple, outputs: tuple[str, ...] = ()) -> Task:
    """A task in the miniature shop with these gold actions."""
    task = task_of("retail")
    assert isinstance(task.world, Scene)
    actions = tuple(Action(name, arguments) for name, arguments in gold)
    return replace(task, world=replace(task.world, actions=actions, outputs=outputs, golds={}))


def says(text: str, *calls: tuple) -> Turn:
    """A turn of the agent; what its calls returned does not matter."""
    made = tuple(ToolCall(name, arguments) for name, arguments in calls)
    called = Step("", calls=made, results=tuple(ToolResult("") for _ in made))
    return Turn(Role.AGENT, text, (called, Step(text, reply=text)))


def grade(task: Task, *dialogue: Turn, **changes) -> float | None:
    return asyncio.run(reward(**changes).grade(task, FAITHFUL, dialogue, NO_JUDGE))


def test_what_counts_is_the_database_and_not_the_way_to_it():
    assert grade(shop(LOOK, CANCEL), says("Done.", CANCEL), BYE) == 1.0
    assert grade(shop(LOOK, CANCEL), says("Done.", LOOK), BYE) == 0.0
    assert grade(shop(LOOK), says("So it is.", LOOK, CANCEL), BYE) == 0.0
    assert grade(shop(LOOK), says("No idea."), BYE) == 1.0


def test_gold_actions_that_are_refused_are_not_expected():
    gone = ("cancel_pending_order", {"order_id": "#W9", "reason": "no longer needed"})
    assert grade(shop(gone, CANCEL), says("Done.", CANCEL), BYE) == 1.0


def test_outputs_must_be_said_by_the_agent_in_any_case_and_with_commas():
    task = shop(outputs=("1093.34", "Gold"))
    assert grade(task, says("It is $1,093.34."), says("You are GOLD."), BYE) == 1.0
    assert grade(task, says("It is $1,093.34."), BYE) == 0.0
    asked = Turn(Role.USER, "Is it 1093.34, as I am gold?")
    assert grade(task, asked, says("It is."), BYE) == 0.0
    thought = Turn(Role.AGENT, "Yes.", (Step("1093.34 gold", plan="gold", reply="Yes."),))
    assert grade(task, thought, BYE) == 0.0


@pytest.mark.parametrize(
    ("outputs", "calls", "text", "newer", "older"),
    [
        # outputs, calls, words, the grade of rules tau1, that of rules josh
        (("20.5",), [CANCEL], "It was 20.50.", 1.0, 1.0),
        (("20.5",), [], "It was 20.50.", 0.0, 1.0),
        (("20.5",), [CANCEL], "Done.", 0.0, 0.0),
        ((), [CANCEL], "Done.", 1.0, 1.0),
        ((), [], "Done.", 0.0, 0.0),
    ],
)
def test_the_older_rule_looks_at_outputs_alone_where_there_are_some(
    outputs, calls, text, newer, older
):
    dialogue = (says(text, *calls), BYE)
    task = shop(CANCEL, outputs=outputs)
    assert grade(task, *dialogue) == newer
    assert grade(task, *dialogue, rules="josh") == older


def test_a_dialogue_that_nobody_ended_fails_unless_that_is_allowed():
    task = shop(CANCEL)
    assert grade(task, says("Done.", CANCEL)) == 0.0
    assert grade(task, says("Done.", CANCEL), must_end=False) == 1.0
    assert grade(task) == 0.0
    transferred = replace(says("", CANCEL, TRANSFER), hangs_up=True)
    assert grade(task, transferred) == 1.0


def test_a_dialogue_that_broke_is_unscored():
    assert grade(shop(), replace(BYE, failure=Failure("user", "down"))) is None


def test_the_dialogue_is_replayed_with_the_tools_of_its_environment():
    # the repaired shop does not pay twice for an order whose method of payment changed
    pay = (
        "modify_pending_order_payment",
        {"order_id": "#W1", "payment_method_id": "paypal_1"},
    )
    task, dialogue = shop(pay, CANCEL), (says("Done.", pay, CANCEL), BYE)
    digests = set()
    for mode in ("faithful", "fixed"):
        environment = TauEnvironment(mode=mode)
        assert asyncio.run(reward().grade(task, environment, dialogue, NO_JUDGE)) == 1.0
        assert isinstance(task.world, Scene)
        digests.add(task.world.gold(mode).digest)
    assert len(digests) == 2


def test_it_pays_for_no_turn_and_leaves_goals_open():
    judged = reward().judge(shop(CANCEL), FAITHFUL, (), says("Done.", CANCEL), (0, 1), NO_JUDGE)
    judgement = asyncio.run(judged)
    assert (judgement.events, judgement.open_goals) == ((), (0, 1))


def test_why_a_dialogue_failed_can_be_asked():
    task = shop(CANCEL, outputs=("20.5", "gold"))
    found = asyncio.run(reward().explain(task, FAITHFUL, (says("It was 20.5.", CANCEL),)))
    assert found == {"database": True, "outputs": {"20.5": True, "gold": False}, "ended": False}


def test_the_floor_is_the_share_of_tasks_that_want_nothing_done_or_said():
    # of these only the first and the last are solved by a transfer at once
    tasks = [shop(LOOK), shop(CANCEL), shop(LOOK, outputs=("20.5",)), shop()]
    assert reward().floor(tasks, FAITHFUL) == 0.5
    idle = [Turn(Role.AGENT, "", hangs_up=True)]
    grades = [asyncio.run(reward().grade(task, FAITHFUL, idle, NO_JUDGE)) for task in tasks]
    assert grades == [1.0, 0.0, 0.0, 1.0]


def test_tasks_of_other_benchmarks_are_refused():
    with pytest.raises(RewardError, match=r"reward=db_state cannot grade task .*dataset=tau_bench"):
        asyncio.run(reward().grade(foreign_task("a"), CountingWorld(), [BYE], NO_JUDGE))
