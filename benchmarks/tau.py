"""What a branch of tau-bench costs, beside copying and hashing its whole database.

    python -m benchmarks.tau

For states that gold actions lead to, in retail and in airline: `fork_us` is what `Session.fork`
takes, `fork_ratio` a deep copy of the same database over it. `hash_ratio` is the hash of the whole
database over `Session.digest`, which must be equal; the texts that all branches share are made
once per process, in `first_hash_ms`. `reward_ratio` is what tau-bench needs for a grade beside the
calls themselves (one copy of the database, two hashes) over all that `reward=db_state` needs, calls
included.

`environment_share` is the time in the environment, grades included, over the wall time of a JOSH
rollout: beam 8, 15 turns of one tool call and one reply each, a scripted model of 50 ms, no goal
reached, so that the beam stays full.

Of the two domains the worse is told, for each number by itself; of repeats the fastest counts.
Seconds are those of the processor, so that what else a machine does hardly matters; only the
rollout's own are wall time, since it waits for its model.
"""

import asyncio
import copy
import json
import os
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from benchmarks._tau_rollout import environment_share
from drl.dataset.tau_bench import TauBenchDataset
from drl.domains.tau.digest import full_digest
from drl.domains.tau.tools import TRANSFER, Domain, carry_out, tools_of
from drl.domains.tau.world import Scene
from drl.environment.tau import TauEnvironment, TauSession
from drl.errors import BenchmarkError
from drl.llm.base import NoLLM
from drl.reward.db_state import DbStateReward
from drl.types import Role, Step, Task, ToolCall, ToolResult, Turn

DOMAINS: Final[tuple[Domain, ...]] = ("retail", "airline")
NUM_TASKS: Final = 10
"""Per domain, of those whose gold actions change the database."""
FORKS: Final = 1000
REPEATS: Final = 3
MODE: Final = "faithful"

_Result = TypeVar("_Result")


@dataclass(slots=True)
class Measured:
    """Seconds of each task: ours, and of the whole database."""

    forks: list[float] = field(default_factory=list)
    copies: list[float] = field(default_factory=list)
    digests: list[float] = field(default_factory=list)
    full_hashes: list[float] = field(default_factory=list)
    grades: list[float] = field(default_factory=list)

    def report(self) -> dict[str, float]:
        """What is told of a domain."""
        full_grades = sum(self.copies) + 2 * sum(self.full_hashes)
        return {
            "fork_us": 1e6 * statistics.median(self.forks),
            "fork_ratio": sum(self.copies) / sum(self.forks),
            "hash_ms": 1e3 * statistics.median(self.digests),
            "hash_ratio": sum(self.full_hashes) / sum(self.digests),
            "reward_ms": 1e3 * statistics.median(self.grades),
            "reward_ratio": full_grades / sum(self.grades),
        }


def main() -> None:
    """Print one JSON object with the results."""
    reports: list[dict[str, float]] = []
    for domain in DOMAINS:
        tasks = changing_tasks(domain)
        _, first_s = timed(scene_of(tasks[0]).world.tables.digest)
        report = measure(tasks).report() | {"first_hash_ms": 1e3 * first_s}
        reports.append(report | asyncio.run(environment_share(tasks)))
    worst = {
        name: (min if name.endswith("_ratio") else max)(report[name] for report in reports)
        for name in reports[0]
    }
    print(json.dumps({name: float(f"{value:.4g}") for name, value in worst.items()}))


def changing_tasks(domain: Domain) -> list[Task]:
    """The first tasks of the test split whose gold actions change the database."""
    dataset = TauBenchDataset(
        root=os.environ.get("DRL_DATA", "data"),
        domain=domain,
        data="tau1",
        split="test",
        goals="all",
        exclude_faulty=True,
        exclude_overlap=False,
        ids=None,
        shuffle=None,
        start=0,
        limit=None,
        shard=0,
        num_shards=1,
    )
    return [task for task in dataset.load() if scene_of(task).gold(MODE).is_changed][:NUM_TASKS]


def measure(tasks: Sequence[Task]) -> Measured:
    """Seconds of forks, hashes and grades, and of copies and hashes of whole databases."""
    measured = Measured()
    for task in tasks:
        scene = scene_of(task)
        tools = tools_of(scene.world.domain, MODE)
        tables = scene.world.tables.fork()
        for action in scene.actions:
            if action.name != TRANSFER:
                carry_out(tools, tables, action.name, action.arguments)
        session = TauSession(scene.world.toolbox, tools, tables)
        plain = tables.plain()
        _, seconds = fastest(lambda session=session: [session.fork() for _ in range(FORKS)])
        measured.forks.append(seconds / FORKS)
        measured.copies.append(fastest(lambda plain=plain: copy.deepcopy(plain))[1])
        ours, seconds = fastest(session.digest)
        measured.digests.append(seconds)
        theirs, seconds = fastest(lambda plain=plain: full_digest(plain))
        measured.full_hashes.append(seconds)
        if ours != theirs:
            raise BenchmarkError(f"{task.id}: the hash of the state is not that of a full copy")
        measured.grades.append(grade_seconds(task))
    return measured


def grade_seconds(task: Task) -> float:
    """Seconds to grade a dialogue in which the agent did and said all that was asked."""
    scene = scene_of(task)
    calls = tuple(ToolCall(action.name, action.arguments) for action in scene.actions)
    step = Step("", calls=calls, results=(ToolResult(""),) * len(calls))
    turn = Turn(Role.AGENT, " ".join(scene.outputs), (step,), hangs_up=True)
    reward = DbStateReward(rules="tau1", must_end=True)
    environment = TauEnvironment(mode=MODE)
    no_judge = NoLLM("judge_llm")
    grade, seconds = fastest(lambda: asyncio.run(reward.grade(task, environment, [turn], no_judge)))
    if grade != 1.0:
        raise BenchmarkError(f"{task.id}: its own gold actions are graded {grade}")
    return seconds


def fastest(work: Callable[[], _Result]) -> tuple[_Result, float]:
    """What some work gives, and the seconds of its fastest repeat."""
    return min((timed(work) for _ in range(REPEATS)), key=lambda run: run[1])


def timed(work: Callable[[], _Result]) -> tuple[_Result, float]:
    """What some work gives, and its seconds."""
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


def scene_of(task: Task) -> Scene:
    """The task as tau-bench knows it."""
    if not isinstance(task.world, Scene):
        raise BenchmarkError(f"{task.id} is not from tau-bench")
    return task.world


if __name__ == "__main__":
    main()
