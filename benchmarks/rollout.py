"""How close a JOSH rollout comes to what its model's latency allows, and to josh-train 0.1.4.

    python -m benchmarks.rollout

A scripted model of 50 ms latency, beam 8, 15 steps, no reward: the most calls a tree can make.
`overhead_1` is wall time over the ideal critical path of one task, `overhead_64` over the larger
of that path and the cost of the calls without latency, for 64 tasks. `speedup_vs_josh_train`
compares one task with josh-train's synchronous class on the same fake model. `turns_per_s` has
no latency and uses one core. Of three repeats the fastest counts.
"""

import asyncio
import json
import time
import tracemalloc
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks import reference
from drl.agent.base import Agent, Situation
from drl.environment.base import Environment, Mode, Session
from drl.llm.base import LLM, NoLLM
from drl.play.cast import Cast
from drl.play.moves import Branch, Play
from drl.reward.goal_api import GoalApiReward
from drl.rollout.josh import JoshRollout
from drl.tree.dialogue_tree import DialogueTree
from drl.types import Brief, Goal, Role, Step, Task, Toolbox, ToolCall, ToolResult, Turn
from drl.user_simulator.base import Encounter, UserSimulator

LATENCY_S: Final = 0.05
BEAM_SIZE: Final = 8
MAX_STEPS: Final = 15
NUM_TASKS: Final = 64
REPEATS: Final = 3
NUM_FORKS: Final = 2000
CRITICAL_PATH: Final = 2 * MAX_STEPS
"""Moves in a row: the opening, 15 agent turns, and the 14 customer turns between them."""


@dataclass(frozen=True)
class ScriptedAgent(Agent):
    """Answers with one word after the latency of a model."""

    latency_s: float
    max_tool_calls: int = 3

    @property
    def explores(self) -> bool:
        """Two children of a node count as two answers."""
        return True

    async def act(self, situation: Situation, llm: LLM) -> Step:
        """One word."""
        if self.latency_s:
            await asyncio.sleep(self.latency_s)
        return Step(text="hello", reply="hello")


@dataclass(frozen=True)
class ScriptedUser(UserSimulator):
    """Answers with one word after the latency of a model."""

    latency_s: float

    async def speak(self, encounter: Encounter, llm: LLM) -> Turn:
        """One word."""
        if self.latency_s:
            await asyncio.sleep(self.latency_s)
        return Turn(Role.USER, "hello")


class NoTools(Session):
    """A world without tools or state."""

    @property
    def toolbox(self) -> Toolbox:
        """None."""
        return Toolbox(())

    async def call(self, call: ToolCall) -> ToolResult:
        """Nothing to call."""
        return ToolResult(None, error="no such tool")

    def fork(self) -> "NoTools":
        """The same: there is nothing to write to."""
        return self

    def digest(self) -> str:
        """One state, one hash."""
        return ""


class EmptyWorld(Environment):
    """Goals that nobody reaches."""

    @property
    def mode(self) -> Mode:
        """There is nothing to repair."""
        return "faithful"

    @property
    def version(self) -> str:
        """Nothing in it is users' own."""
        return ""

    def open(self, task: Task) -> Session:
        """A session without tools."""
        return NoTools()

    def achieves(self, goal: Goal, call: ToolCall, result: ToolResult, open_goals: object) -> bool:
        """Never."""
        return False

    def exact_call(self, goal: Goal) -> ToolCall:
        """A call that reaches nothing."""
        return ToolCall(goal.kind, {})

    def explain(self, task: Task, goal: Goal, result: ToolResult) -> str:
        """There is no way."""
        return "nothing is ever reached"


def main() -> None:
    """Print one JSON object with the results."""
    one, trees = fastest(1, LATENCY_S)
    many, _ = fastest(NUM_TASKS, LATENCY_S)
    bare, bare_trees = fastest(NUM_TASKS, 0)
    ideal = CRITICAL_PATH * LATENCY_S
    theirs = reference_seconds()
    results = {
        "overhead_1": one / ideal,
        "overhead_64": many / max(ideal, bare),
        "speedup_vs_josh_train": theirs / one,
        "turns_per_s": sum(len(tree.nodes) for tree in bare_trees) / bare,
        "bytes_per_branch": bytes_per_branch(),
        "calls_per_task": len(trees[0].nodes),
        "seconds_1": one,
        "seconds_64": many,
        "seconds_josh_train": theirs,
    }
    print(json.dumps({name: float(f"{value:.5g}") for name, value in results.items()}))


def fastest(num_tasks: int, latency_s: float) -> tuple[float, list[DialogueTree]]:
    """Seconds of the fastest repeat, and its trees."""
    runs = [asyncio.run(grow(num_tasks, latency_s)) for _ in range(REPEATS)]
    return min(runs, key=lambda run: run[0])


def josh(num_tasks: int) -> JoshRollout:
    """The search that is measured, of so many tasks side by side."""
    return JoshRollout(
        beam_size=BEAM_SIZE,
        branching=2,
        max_steps=MAX_STEPS,
        branch_at="turn",
        collapse_to="most_goals",
        label_cut="censored",
        resolve_censored=0,
        final_harvest=True,
        stop_at_goals=True,
        allow_greedy=False,
        concurrency=num_tasks * BEAM_SIZE,
    )


async def grow(num_tasks: int, latency_s: float) -> tuple[float, list[DialogueTree]]:
    """Seconds to grow the trees of so many tasks side by side, and the trees."""
    rollout = josh(num_tasks)
    cast = make_cast(latency_s, rollout.concurrency)
    start = time.perf_counter()
    trees = await asyncio.gather(
        *(rollout.run(make_task(number), 0, cast) for number in range(num_tasks))
    )
    return time.perf_counter() - start, list(trees)


def make_cast(latency_s: float, concurrency: int) -> Cast:
    """Scripted participants in a world without rewards."""
    reward = GoalApiReward(judge_against="task")
    return Cast(
        agent=ScriptedAgent(latency_s),
        user_simulator=ScriptedUser(latency_s),
        environment=EmptyWorld(),
        reward=reward,
        score=reward,
        seed=0,
        limit=asyncio.Semaphore(concurrency),
        llm=NoLLM("llm"),
        user_llm=NoLLM("user_llm"),
        judge_llm=NoLLM("judge_llm"),
    )


def make_task(number: int) -> Task:
    """A task whose goal is out of reach."""
    return Task(str(number), "benchmark", Brief(()), (Goal("never", "none", {}),))


def reference_seconds() -> float:
    """Seconds of josh-train's synchronous class for one task on the same fake model."""
    given = {"latency_s": LATENCY_S, "beam_size": BEAM_SIZE, "max_steps": MAX_STEPS}
    script = Path(__file__).with_name("_reference_rollout.py")
    return json.loads(reference.run(script, json.dumps(given)))["seconds"]


def bytes_per_branch() -> float:
    """Memory of one more branch after 15 exchanges, its tree node aside."""

    async def measure() -> float:
        play = Play(make_task(0), 0, make_cast(0, 1))
        branch = play.start()
        for _ in range(MAX_STEPS):
            await play.user_turn(branch)
            await play.agent_turn(branch)
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        twins: list[Branch] = [branch.fork(child) for child in range(NUM_FORKS)]
        grown = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.stop()
        return grown / len(twins)

    return asyncio.run(measure())


if __name__ == "__main__":
    main()
