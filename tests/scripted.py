"""Participants and a world that do as a test says; they keep the contracts of the real ones."""

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from drl.agent.base import Agent, Situation
from drl.environment.base import Environment, Mode, Session
from drl.llm.base import LLM, NoLLM
from drl.play.cast import Cast
from drl.reward.base import Reward
from drl.reward.goal_api import GoalApiReward
from drl.rollout.josh import JoshRollout
from drl.types import Brief, Goal, Role, Step, Task, Toolbox, ToolCall, ToolResult, Turn
from drl.user_simulator.base import END_OF_CONVERSATION, Encounter, UserSimulator

NO_JUDGE = NoLLM("judge_llm")
JOSH = JoshRollout(
    beam_size=8,
    branching=2,
    max_steps=15,
    branch_at="turn",
    collapse_to="most_goals",
    label_cut="censored",
    resolve_censored=0,
    final_harvest=True,
    stop_at_goals=True,
    allow_greedy=False,
    concurrency=64,
)


def josh(**settings) -> JoshRollout:
    """A search as in conf/rollout/josh.yaml but for these settings."""
    return replace(JOSH, **settings)


def say(text: str = "hello") -> Step:
    """A step that ends the turn."""
    return Step(text=text, reply=text)


def hit(*kinds: str) -> Step:
    """A step that calls the tools of these goals."""
    return Step(text="call", calls=tuple(ToolCall(kind, {}) for kind in kinds))


class ScriptedAgent(Agent):
    """Acts as a function of its situation says."""

    max_tool_calls = 3

    def __init__(self, act: Callable[[Situation], Step], *, explores: bool = True) -> None:
        self._act = act
        self._explores = explores
        self.seeds: list[int] = []

    @property
    def explores(self) -> bool:
        return self._explores

    async def act(self, situation: Situation, llm: LLM) -> Step:
        self.seeds.append(situation.seed)
        return self._act(situation)


def turns_of(*steps: Step) -> Callable[[Situation], Step]:
    """Each agent turn, in the order they are played, is one of these steps, then a reply."""
    script = iter(steps)

    def act(situation: Situation) -> Step:
        if situation.steps:
            return say("done")
        return next(script, say())

    return act


def lucky(chance: float) -> Callable[[Situation], Step]:
    """Calls the tool of the next goal with a chance that the seed decides, else talks."""

    def act(situation: Situation) -> Step:
        if situation.steps or random.Random(situation.seed).random() >= chance:
            return say()
        done = sum(len(s.calls) for turn in situation.history for s in turn.steps)
        return hit(f"goal_{done}")

    return act


class ScriptedUser(UserSimulator):
    """Says its turn number, and hangs up in the turn it is told to."""

    def __init__(self, ends_at: int | None = None) -> None:
        self._ends_at = ends_at
        self.seeds: list[tuple[int, int]] = []

    async def speak(self, encounter: Encounter, llm: LLM) -> Turn:
        index = sum(turn.role is Role.USER for turn in encounter.history)
        self.seeds.append((index, encounter.seed))
        if index == self._ends_at:
            return Turn(Role.USER, END_OF_CONVERSATION, hangs_up=True)
        return Turn(Role.USER, f"customer turn {index}")


class CountingSession(Session):
    """Remembers what was called; every name is a tool."""

    def __init__(self, called: tuple[str, ...] = ()) -> None:
        self.called = called

    @property
    def toolbox(self) -> Toolbox:
        return Toolbox(())

    async def call(self, call: ToolCall) -> ToolResult:
        self.called += (call.name,)
        return ToolResult("ok")

    def fork(self) -> "CountingSession":
        return CountingSession(self.called)

    def digest(self) -> str:
        return ",".join(self.called)


class CountingWorld(Environment):
    """A goal is reached by calling the tool of its name."""

    @property
    def mode(self) -> Mode:
        return "faithful"

    @property
    def version(self) -> str:
        return ""

    def open(self, task: Task) -> Session:
        return CountingSession()

    def achieves(
        self, goal: Goal, call: ToolCall, result: ToolResult, open_goals: Sequence[Goal]
    ) -> bool:
        return goal.kind == call.name

    def exact_call(self, goal: Goal) -> ToolCall:
        return ToolCall(goal.kind, {})

    def explain(self, task: Task, goal: Goal, result: ToolResult) -> str:
        return "it is always reached"


def task_of(*kinds: str, id: str = "task") -> Task:
    """A task with goals of these kinds."""
    return Task(id, "test", Brief(("Do it.",)), tuple(Goal(kind, "test", {}) for kind in kinds))


def cast_of(
    agent: Agent, user: UserSimulator | None = None, *, seed: int = 0, reward: Reward | None = None
) -> Cast:
    """A cast around an agent; call it inside a running event loop or not, it binds to none."""
    reward = reward or GoalApiReward(judge_against="task")
    return Cast(
        agent=agent,
        user_simulator=user or ScriptedUser(),
        environment=CountingWorld(),
        reward=reward,
        score=reward,
        seed=seed,
        limit=asyncio.Semaphore(64),
        llm=NoLLM("llm"),
        user_llm=NoLLM("user_llm"),
        judge_llm=NO_JUDGE,
    )
