"""Scripted dialogues in the miniature shop, played as runs play them."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from scripted import NO_JUDGE, ScriptedAgent, cast_of
from tau.miniature import task_of

from drl.agent.base import Agent, Situation
from drl.domains.tau.gold import Action
from drl.domains.tau.world import Scene
from drl.environment.tau import TauEnvironment
from drl.llm.base import LLM
from drl.play.cast import Cast
from drl.reward.db_state import DbStateReward
from drl.reward.goal_api import GoalApiReward
from drl.rollout.base import Rollout
from drl.rollout.single import SingleRollout
from drl.tree.dialogue_tree import DialogueTree
from drl.types import JSON, Brief, Goal, Role, Step, Task, ToolCall, Turn
from drl.user_simulator.base import Encounter, UserSimulator

ENVIRONMENT = TauEnvironment(mode="faithful")
SCORE = DbStateReward(rules="tau1", must_end=True)
SINGLE = SingleRollout(max_steps=6, max_calls=None, concurrency=1)
LOOK = ToolCall("get_order_details", {"order_id": "#W1"})
CANCEL = ToolCall("cancel_pending_order", {"order_id": "#W1", "reason": "no longer needed"})
TRANSFER = ToolCall("transfer_to_human_agents", {"summary": "too hard"})


def shop(*gold: ToolCall, outputs: Sequence[str] = (), index: int = 0) -> Task:
    """A task whose goals are these calls, and so its gold actions."""
    task = task_of("retail", *(Goal(call.name, "retail", call.arguments) for call in gold))
    assert isinstance(task.world, Scene)
    actions = tuple(Action(call.name, call.arguments) for call in gold)
    scene = replace(task.world, index=index, actions=actions, outputs=tuple(outputs), golds={})
    brief = Brief(("You are Ann Lee in 10115, and you want help.",))
    return replace(task, id=f"retail-test-{index}", brief=brief, world=scene)


def does(*calls: ToolCall) -> Step:
    """A step that makes these calls."""
    return Step("calls", calls=calls)


def says(text: str) -> Step:
    """A step that replies."""
    return Step(text, reply=text)


def agent(*steps: Step, max_tool_calls: int = 3) -> Agent:
    """Takes these steps one after the other, whatever is said, and then thanks."""

    def act(situation: Situation) -> Step:
        taken = sum(len(turn.steps) for turn in situation.history) + len(situation.steps)
        return steps[taken] if taken < len(steps) else says("Thank you.")

    return playing(act, max_tool_calls)


def playing(act: Callable[[Situation], Step], max_tool_calls: int = 3) -> Agent:
    """Acts as a function says."""
    actor = ScriptedAgent(act)
    actor.max_tool_calls = max_tool_calls
    return actor


class Customer(UserSimulator):
    """Says "More, please." so many times, and then hangs up as tau-bench does."""

    def __init__(self, replies: int = 1) -> None:
        self._replies = replies

    async def speak(self, encounter: Encounter, llm: LLM) -> Turn:
        said = sum(turn.role is Role.USER for turn in encounter.history)
        if said >= self._replies:
            return Turn(Role.USER, "###STOP###", hangs_up=True)
        return Turn(Role.USER, "More, please.")


def cast(agent: Agent, user: UserSimulator | None = None) -> Cast:
    """Goals steer, the database grades."""
    bare = cast_of(agent, user or Customer(), reward=GoalApiReward(judge_against="task"))
    return replace(bare, environment=ENVIRONMENT, score=SCORE, judge_llm=NO_JUDGE)


def played(task: Task, cast: Cast, rollout: Rollout = SINGLE, trial: int = 0) -> DialogueTree:
    """The tree of one attempt."""
    return asyncio.run(rollout.run(task, trial, cast))


def native(name: str, arguments: str, number: int = 0) -> dict[str, JSON]:
    """An assistant's message with a native call, as OpenAI's API gives it."""
    function: JSON = {"name": name, "arguments": arguments}
    call: JSON = {"id": f"call_{number}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call], "function_call": None}
