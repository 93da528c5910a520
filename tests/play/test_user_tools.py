"""Customers with tools of their own."""

import asyncio
from dataclasses import replace

import pytest
from scripted import CountingSession, CountingWorld, ScriptedAgent, cast_of, hit, say, task_of

from drl.environment.base import Session
from drl.llm.base import LLM
from drl.play.moves import MAX_USER_STEPS, Play
from drl.rollout.single import SingleRollout
from drl.tree.dialogue_tree import DialogueTree
from drl.types import Role, Step, Task, Toolbox, ToolCall, ToolResult, ToolSpec, Turn
from drl.user_simulator.base import Encounter, UserSimulator

PHONE = Toolbox((ToolSpec("look", "looks at the phone", {}),))
SINGLE = SingleRollout(max_steps=2, max_calls=None, concurrency=1)


class PhoneSession(CountingSession):
    """The customer may look at its phone, which counts the looks."""

    @property
    def user_toolbox(self) -> Toolbox:
        return PHONE

    async def call_by_user(self, call: ToolCall) -> ToolResult:
        self.called += (f"user {call.name}",)
        return ToolResult(len(self.called))

    def fork(self) -> "PhoneSession":
        return PhoneSession(self.called)


class PhoneWorld(CountingWorld):
    def open(self, task: Task) -> Session:
        return PhoneSession()


class LookingUser(UserSimulator):
    """Looks at its phone so often before it says what it saw."""

    def __init__(self, looks: int) -> None:
        self._looks = looks
        self.met: list[Encounter] = []

    async def speak(self, encounter: Encounter, llm: LLM) -> Turn:
        self.met.append(encounter)
        if len(encounter.steps) < self._looks:
            return Turn(Role.USER, None, (Step("looks", calls=(ToolCall("look", {}),)),))
        seen = [str(result.value) for step in encounter.steps for result in step.results]
        return Turn(Role.USER, f"I saw {' '.join(seen)}")


def grown(user: LookingUser, agent: ScriptedAgent | None = None) -> DialogueTree:
    cast = cast_of(agent or ScriptedAgent(lambda situation: say()), user)
    return asyncio.run(SINGLE.run(task_of("look"), 0, replace(cast, environment=PhoneWorld())))


def test_a_customer_is_asked_again_with_what_its_tools_gave():
    user = LookingUser(looks=2)
    tree = grown(user)
    said = [node.turn.text for node in tree.nodes if node.turn.role is Role.USER]
    assert said == ["I saw 1 2", "I saw 3 4"]
    assert user.met[0].toolbox is PHONE
    assert [len(encounter.steps) for encounter in user.met] == [0, 1, 2] * 2
    assert len({encounter.seed for encounter in user.met}) == 6


def test_what_a_customer_does_is_private_and_earns_the_agent_nothing():
    seen = []

    def act(situation) -> Step:
        seen.append(situation.history[-1])
        return say()

    tree = grown(LookingUser(looks=1), ScriptedAgent(act))
    assert all(turn.steps == () for turn in seen)
    (leaf,) = tree.leaves()
    assert leaf.score == 0.0  # the goal is to look, and only the customer did


def test_a_customer_that_only_calls_breaks_the_dialogue():
    tree = grown(LookingUser(looks=MAX_USER_STEPS + 1))
    (leaf,) = tree.leaves()
    assert leaf.turn.failure is not None
    assert leaf.turn.failure.stage == "user_simulator"
    assert "20 steps" in leaf.turn.failure.cause


@pytest.mark.parametrize("looks", [0, 1])
def test_calls_of_both_sides_are_made_again_on_the_way_to_a_node(looks):
    agent = ScriptedAgent(lambda situation: say() if situation.steps else hit("a"))
    user = LookingUser(looks)
    cast = replace(cast_of(agent, user), environment=PhoneWorld())
    tree = asyncio.run(SINGLE.run(task_of("look"), 0, cast))
    branch = asyncio.run(Play(task_of("look"), 0, cast).at(tree, len(tree.nodes) - 1))
    assert branch.session.digest() == ",".join((["user look"] * looks + ["a"]) * 2)
