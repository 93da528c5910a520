"""Whole dialogues on the miniature: both sides act, branches share, stored trees play again."""

import asyncio
from dataclasses import replace

import pytest
from scripted import ScriptedAgent, cast_of, josh, say

from drl.agent.base import Situation
from drl.llm.base import LLM
from drl.play.cast import Cast
from drl.play.moves import Play
from drl.rollout.single import SingleRollout
from drl.tree.codec import from_line, to_line
from drl.tree.dialogue_tree import DialogueTree
from drl.types import Role, Step, StopReason, Task, ToolCall, Turn
from drl.user_simulator.base import Encounter, UserSimulator

SINGLE = SingleRollout(max_steps=8, max_calls=None, concurrency=1)


DOES = {
    "pay": ToolCall("pay", {}),
    "press": ToolCall("press_power", {}),
    "turn": ToolCall("set_volume", {"volume": 8}),
}


class Subscriber(UserSimulator):
    """Does what the agent tells it, listens, and leaves once there is music or it is told so."""

    async def speak(self, encounter: Encounter, llm: LLM) -> Turn:
        told = encounter.history[-1].text or ""
        asked = [call for word, call in DOES.items() if word in told]
        script = [*asked, ToolCall("listen", {})] if asked else []
        if len(encounter.steps) < len(script):
            return Turn(Role.USER, None, (Step("", calls=(script[len(encounter.steps)],)),))
        heard = encounter.steps[-1].results[0].value if encounter.steps else "nothing"
        ends = heard == "music" or "bye" in told
        text = f"I hear {heard}.{' ###STOP###' if ends else ''}"
        return Turn(Role.USER, text, (Step(text, reply=text),), hangs_up=ends)


def help_with(situation: Situation) -> Step:
    """Bill, subscription, button, volume: one a turn."""
    turn = sum(each.role is Role.AGENT for each in situation.history) - 1  # after the greeting
    if turn == 1 and not situation.steps:
        return Step("", calls=(ToolCall("activate", {"reason": "paid"}),))
    return say(["pay the bill", "press the button", "turn it up", "bye"][turn])


def cast(environment, reward, agent: ScriptedAgent, **search) -> Cast:
    made = cast_of(agent, Subscriber())
    return replace(made, environment=environment, score=reward(), **search)


@pytest.fixture
def helped(environment, reward, task) -> tuple[Task, Cast, DialogueTree]:
    hard, made = task("hard"), cast(environment, reward, ScriptedAgent(help_with))
    return hard, made, asyncio.run(SINGLE.run(hard, 0, made))


def test_both_sides_solve_a_task_together(helped):
    _, _, tree = helped
    (leaf,) = tree.leaves()
    assert leaf.stop is StopReason.USER_ENDED
    assert leaf.score == 1.0
    dialogue = tree.dialogue(leaf.id)
    assert [turn.text for turn in dialogue if turn.role is Role.USER] == [
        "I hear nothing.",
        "I hear nothing.",
        "I hear nothing.",
        "I hear music. ###STOP###",
    ]
    last = [call.name for _, _, call, _ in dialogue[-1].executed()]
    assert last == ["set_volume", "listen"]
    # the agent's one action is a goal, and it earned it
    assert [event.detail["kind"] for node in tree.nodes for event in node.events] == ["activate"]
    assert leaf.open_goals == ()


def test_an_agent_that_leaves_it_there_fails(environment, reward, task):
    made = cast(environment, reward, ScriptedAgent(lambda situation: say("bye")))
    (leaf,) = asyncio.run(SINGLE.run(task("hard"), 0, made)).leaves()
    assert (leaf.stop, leaf.score) == (StopReason.USER_ENDED, 0.0)


def test_a_stored_dialogue_plays_again_to_the_same_state(helped):
    hard, made, tree = helped
    stored = from_line(to_line(tree))
    assert stored == tree
    states = [
        asyncio.run(Play(hard, 0, made).at(stored, node.id)).session.digest()
        for node in stored.nodes
    ]
    # paying, activating, pressing and turning change something; saying something does not
    assert len(set(states)) == 5
    assert states[-1] != states[0]


def test_a_search_grades_every_branch_by_itself(environment, reward, task):
    """Branches that activate by luck: those that do and come to an end are graded 1."""

    def lucky(situation: Situation) -> Step:
        turn = sum(each.role is Role.AGENT for each in situation.history) - 1
        if turn == 1 and not situation.steps and situation.seed % 2:
            return say("press the button")
        return help_with(situation)

    made = cast(environment, reward, ScriptedAgent(lucky))
    tree = asyncio.run(josh(beam_size=4, stop_at_goals=False).run(task("hard"), 0, made))
    leaves = list(tree.leaves())
    assert len(leaves) > 1
    assert {leaf.score for leaf in leaves} == {0.0, 1.0}
    for leaf in leaves:
        calls = [call.name for turn in tree.dialogue(leaf.id) for _, _, call, _ in turn.executed()]
        assert leaf.score == float("activate" in calls and leaf.turn.hangs_up)
