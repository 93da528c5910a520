"""A JOSH rollout on tau-bench with a scripted model, and what part of it the environment takes."""

import asyncio
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from benchmarks.rollout import LATENCY_S, ScriptedUser, josh
from drl.agent.base import Agent, Situation
from drl.domains.tau.tools import TRANSFER
from drl.environment.base import Environment, Mode, Session
from drl.environment.tau import TauEnvironment
from drl.errors import BenchmarkError
from drl.llm.base import LLM, NoLLM
from drl.play.cast import Cast
from drl.reward.db_state import DbStateReward
from drl.reward.goal_api import GoalApiReward
from drl.types import Goal, Step, Task, Toolbox, ToolCall, ToolResult


@dataclass(slots=True)
class Clock:
    """Seconds of the processor in the environment, which never waits, and calls carried out."""

    seconds: float = 0.0
    num_calls: int = 0


@dataclass(frozen=True)
class CallingAgent(Agent):
    """One call and one reply a turn, each after the latency of a model; calls by chance."""

    calls: tuple[ToolCall, ...]
    max_tool_calls: int = 1

    @property
    def explores(self) -> bool:
        """Two children of a node make two calls."""
        return True

    async def act(self, situation: Situation, llm: LLM) -> Step:
        """A call, then a word."""
        await asyncio.sleep(LATENCY_S)
        if situation.must_reply:
            return Step("hello", reply="hello")
        return Step("", calls=(random.Random(situation.seed).choice(self.calls),))


class TimedSession(Session):
    """A session on the clock."""

    def __init__(self, session: Session, clock: Clock) -> None:
        self._session = session
        self._clock = clock

    @property
    def toolbox(self) -> Toolbox:
        """That of the session."""
        return self._session.toolbox

    async def call(self, call: ToolCall) -> ToolResult:
        """Carried out on the clock; the session never waits."""
        start = time.process_time()
        result = await self._session.call(call)
        self._clock.seconds += time.process_time() - start
        self._clock.num_calls += 1
        return result

    def fork(self) -> "TimedSession":
        """A fork on the same clock."""
        start = time.process_time()
        fork = self._session.fork()
        self._clock.seconds += time.process_time() - start
        return TimedSession(fork, self._clock)

    def digest(self) -> str:
        """That of the session."""
        start = time.process_time()
        digest = self._session.digest()
        self._clock.seconds += time.process_time() - start
        return digest


@dataclass(frozen=True)
class TimedEnvironment(Environment):
    """tau-bench on the clock."""

    inner: TauEnvironment = field(default_factory=lambda: TauEnvironment(mode="faithful"))
    clock: Clock = field(default_factory=Clock)

    @property
    def mode(self) -> Mode:
        """As published."""
        return self.inner.mode

    @property
    def version(self) -> str:
        """Nothing in it is users' own."""
        return ""

    def open(self, task: Task) -> TimedSession:
        """A session on the clock."""
        start = time.process_time()
        session = self.inner.open(task)
        self.clock.seconds += time.process_time() - start
        return TimedSession(session, self.clock)

    def achieves(
        self, goal: Goal, call: ToolCall, result: ToolResult, open_goals: Sequence[Goal]
    ) -> bool:
        """As in tau-bench."""
        start = time.process_time()
        is_reached = self.inner.achieves(goal, call, result, open_goals)
        self.clock.seconds += time.process_time() - start
        return is_reached

    def exact_call(self, goal: Goal) -> ToolCall:
        """The gold action."""
        return self.inner.exact_call(goal)

    def explain(self, task: Task, goal: Goal, result: ToolResult) -> str:
        """As in tau-bench."""
        return self.inner.explain(task, goal, result)


async def environment_share(tasks: Sequence[Task]) -> dict[str, float]:
    """The environment's share of the wall time of the first task's rollout, and its calls.

    The agent makes gold calls of all tasks; the goal is out of reach, so the beam stays full.

    Raises:
        BenchmarkError: a dialogue broke, so its time would say nothing.
    """
    environment = TimedEnvironment()
    calls = tuple(
        environment.exact_call(goal)
        for task in tasks
        for goal in task.goals
        if goal.kind != TRANSFER
    )
    rollout = josh(1)
    task = replace(tasks[0], goals=(Goal("never", "none", {}),))
    cast = _cast(calls, environment, rollout.concurrency)
    start = time.perf_counter()
    tree = await rollout.run(task, 0, cast)
    seconds = time.perf_counter() - start
    if any(node.turn.failure for node in tree.nodes):
        raise BenchmarkError(f"{task.id}: a dialogue of the rollout broke")
    return {
        "environment_share": environment.clock.seconds / seconds,
        "rollout_s": seconds,
        "rollout_calls": environment.clock.num_calls,
    }


def _cast(calls: tuple[ToolCall, ...], environment: Environment, concurrency: int) -> Cast:
    return Cast(
        agent=CallingAgent(calls),
        user_simulator=ScriptedUser(LATENCY_S),
        environment=environment,
        reward=GoalApiReward(judge_against="task"),
        score=DbStateReward(rules="tau1", must_end=False),
        seed=0,
        limit=asyncio.Semaphore(concurrency),
        llm=NoLLM("llm"),
        user_llm=NoLLM("user_llm"),
        judge_llm=NoLLM("judge_llm"),
    )
