"""Dialogues that go on from what was said before them."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest
from agent.react_agents import react
from miner.groves import Grove, mined, say
from scripted import ScriptedAgent, ScriptedUser, cast_of, josh, task_of
from scripted import say as says

from drl.agent.base import Situation
from drl.environment.base import Environment
from drl.llm.base import LLM
from drl.miner.base import SFTRow
from drl.miner.josh_paper import JoshPaperMiner
from drl.play.moves import Play
from drl.reward.base import Judgement, Reward
from drl.rollout.base import Rollout
from drl.rollout.best_of_n import BestOfNRollout
from drl.rollout.single import SingleRollout
from drl.tree.codec import from_line, to_line
from drl.types import Role, Step, Task, Turn


def spoken(role: Role, text: str) -> Turn:
    return Turn(role, text, (Step(text, reply=text),))


BEFORE = (spoken(Role.USER, "hi"), spoken(Role.AGENT, "hello"), spoken(Role.USER, "well?"))
SINGLE = SingleRollout(max_steps=2, max_calls=None, concurrency=1)
ROLLOUTS: list[Rollout] = [
    SINGLE,
    BestOfNRollout(num_dialogues=2, agent_calls=None, max_steps=2, concurrency=1),
    josh(max_steps=2, collapse_to="never"),
]


def task_with(*opening: Turn) -> Task:
    return replace(task_of("a"), opening=opening)


def heard(situation: Situation) -> Step:
    """Says how many turns it sees, and the last of them."""
    return says(f"{len(situation.history)}: {situation.history[-1].text}")


class Listening(Reward):
    """Remembers what it is told was said before each turn, and what it grades."""

    def __init__(self) -> None:
        self.before: list[list[str | None]] = []
        self.graded: list[list[str | None]] = []

    async def judge(
        self,
        task: Task,
        environment: Environment,
        before: Sequence[Turn],
        turn: Turn,
        open_goals: tuple[int, ...],
        llm: LLM,
    ) -> Judgement:
        self.before.append([turn.text for turn in before])
        return Judgement((), open_goals)

    async def grade(
        self, task: Task, environment: Environment, dialogue: Sequence[Turn], llm: LLM
    ) -> float | None:
        self.graded.append([turn.text for turn in dialogue])
        return 0.0


@pytest.mark.parametrize("rollout", ROLLOUTS)
def test_the_agent_speaks_first_where_the_customer_spoke_last(rollout):
    cast = cast_of(ScriptedAgent(heard))
    tree = asyncio.run(rollout.run(task_with(*BEFORE), 0, cast))
    roots = [node.turn for node in tree.nodes if node.parent is None]
    assert {turn.role for turn in roots} == {Role.AGENT}
    assert {turn.text for turn in roots} == {"3: well?"}
    last = tree.dialogue(next(tree.leaves()).id)
    # the customer counts the turn of the opening and its next: 0, 1, then 2
    assert [turn.text for turn in last] == ["3: well?", "customer turn 2", "5: customer turn 2"]


def test_the_customer_speaks_first_where_the_agent_spoke_last():
    tree = asyncio.run(SINGLE.run(task_with(*BEFORE[:2]), 0, cast_of(ScriptedAgent(heard))))
    assert [node.turn.text for node in tree.nodes][:2] == ["customer turn 1", "3: customer turn 1"]


def test_neither_side_sees_the_steps_of_the_other_in_the_opening():
    play = Play(task_with(*BEFORE), 0, cast_of(ScriptedAgent(heard), ScriptedUser()))
    branch = play.start()
    assert [bool(turn.steps) for turn in branch.agent_view] == [False, True, False]
    assert [bool(turn.steps) for turn in branch.user_view] == [True, False, True]


def test_a_reward_is_told_what_was_said_after_the_opening():
    reward = Listening()
    task, cast = task_with(*BEFORE), cast_of(ScriptedAgent(heard), reward=reward)
    asyncio.run(SINGLE.run(task, 0, cast))
    said = ["3: well?", "customer turn 2", "5: customer turn 2"]
    assert reward.before == [[], said[:2]]
    assert reward.graded == [said]


def test_a_stored_tree_keeps_its_opening_and_goes_on_from_it():
    cast = cast_of(ScriptedAgent(heard))
    tree = asyncio.run(SINGLE.run(task_with(*BEFORE), 0, cast))
    assert from_line(to_line(tree)) == tree
    branch = asyncio.run(Play(task_with(*BEFORE), 0, cast).at(tree, 0))
    assert [turn.text for turn in branch.agent_view] == ["hi", "hello", "well?", "3: well?"]


def test_an_opening_is_read_and_not_learned():
    tree = Grove()
    tree.opening = tuple(
        replace(turn, steps=(say(turn.text or ""),)) if turn.role is Role.AGENT else turn
        for turn in BEFORE
    )
    tree.nodes.clear()
    tree._grown(None, Turn(Role.AGENT, "hello", (say("hello"),)), {})  # as in the opening
    tree.win(tree.ask(0, "thanks"), say("bye"))
    (row,) = mined(JoshPaperMiner(), "sft", tree, react("compact"))
    assert isinstance(row, SFTRow)
    shown = [message.content for message in row.messages[1:]]
    assert shown == ["hi", "SAY hello", "well?", "SAY hello", "thanks", "SAY bye"]
    assert [row.messages[place].content for place in row.trained] == ["SAY hello", "SAY bye"]
    assert row.trained == (4, 6)
