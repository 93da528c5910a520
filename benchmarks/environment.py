"""How fast the ToolWOZ environment answers, beside josh-train 0.1.4 on the same calls.

    python -m benchmarks.environment

`search_us` is the median of a search through `Session.call`. `speedup_vs_josh_train` is its total
time over ours for the same searches, whose answers must be equal; of each search the fastest
repeat counts on either side, since other work on the machine only slows. `load_s` reads the
compact data from disk.
"""

import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks import reference
from drl.dataset.toolwoz import ToolWOZDataset
from drl.domains.toolwoz.record import DOMAINS
from drl.environment.toolwoz import ToolWOZEnvironment
from drl.errors import BenchmarkError
from drl.types import JSON, Goal, Task, ToolCall, ToolResult

QUERIES_PER_DOMAIN: Final = 20
REPEATS: Final = 100
REFERENCE_REPEATS: Final = 3
SEED: Final = 0
_HERE: Final = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Query:
    """A search, in the dialogue that it is made in."""

    task: Task
    call: ToolCall


def main() -> None:
    """Print one JSON object with the results."""
    root = os.environ.get("DRL_DATA", "data")
    tasks = ToolWOZDataset(
        root=root,
        split="test",
        ids=None,
        exclude_unwinnable=False,
        shuffle=None,
        start=0,
        limit=None,
        shard=0,
        num_shards=1,
    ).load()
    queries = mix(list(tasks), random.Random(SEED))
    results, seconds = asyncio.run(measure(queries))
    their_values, their_seconds = measure_reference(queries)
    for query, ours, value in zip(queries, results, their_values, strict=True):
        if ours.value != value:
            raise BenchmarkError(f"{query.call} in {query.task.id}: the two answers differ")
    ours_s, theirs_s = (sum(map(min, taken)) for taken in (seconds, their_seconds))
    medians = [statistics.median(taken) for taken in seconds]
    report = {
        "num_queries": len(queries),
        "search_us": round(statistics.median(medians) * 1e6, 2),
        "slowest_search_us": round(max(medians) * 1e6, 2),
        "josh_train_search_us": round(statistics.median(map(min, their_seconds)) * 1e6, 1),
        "speedup_vs_josh_train": round(theirs_s / ours_s, 1),
        "load_s": round(load_seconds(root), 4),
    }
    print(json.dumps(report))


def mix(tasks: list[Task], generator: random.Random) -> list[Query]:
    """The same number of searches for each domain: exact, vague, unfiltered and conflicting."""
    queries: list[Query] = []
    for domain in DOMAINS:
        searched = [(task, goal) for task in tasks for goal in task.goals if _is_for(goal, domain)]
        for number in range(QUERIES_PER_DOMAIN):
            task, goal = generator.choice(searched)
            arguments = _vary(goal.arguments, number % 5, generator)
            _, other = generator.choice(searched)
            if number % 5 == 4:
                arguments = {**arguments, **other.arguments}
            queries.append(Query(task, ToolCall(goal.kind, arguments)))
    return queries


async def measure(queries: list[Query]) -> tuple[list[ToolResult], list[list[float]]]:
    """What each search gives, and the seconds of every repeat."""
    environment = ToolWOZEnvironment(mode="faithful")
    sessions = [environment.open(query.task) for query in queries]
    results = [await s.call(q.call) for s, q in zip(sessions, queries, strict=True)]
    times: list[list[float]] = [[] for _ in queries]
    for _ in range(REPEATS):
        for session, query, taken in zip(sessions, queries, times, strict=True):
            start = time.perf_counter()
            await session.call(query.call)
            taken.append(time.perf_counter() - start)
    return results, times


def measure_reference(queries: list[Query]) -> tuple[list[JSON], list[list[float]]]:
    """What josh-train returns for each search, and the seconds of every repeat."""
    calls = [
        {
            "goals": _published_form(query.task),
            "name": query.call.name,
            "arguments": query.call.arguments,
        }
        for query in queries
    ]
    given = json.dumps({"calls": calls, "repeats": REFERENCE_REPEATS})
    answers = json.loads(reference.run(_HERE / "_reference_calls.py", given))
    return [a["returned"] for a in answers], [a["seconds"] for a in answers]


def load_seconds(root: str) -> float:
    """The median seconds that a fresh process takes to read the compact data."""
    script = (
        "import sys, time; from pathlib import Path; from drl.domains.toolwoz import world\n"
        "start = time.perf_counter(); world.load(Path(sys.argv[1]))\n"
        "print(time.perf_counter() - start)"
    )
    command = [sys.executable, "-c", script, root]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(3)]
    return statistics.median(float(run.stdout) for run in runs)


def _is_for(goal: Goal, domain: str) -> bool:
    return goal.kind == f"search_{domain}"


def _vary(arguments: Mapping[str, JSON], variant: int, generator: random.Random) -> dict[str, JSON]:
    """All arguments, none, one of them, or all but one."""
    names = sorted(arguments)
    if variant == 1:
        names = []
    elif variant == 2:
        names = [generator.choice(names)]
    elif variant == 3:
        names.remove(generator.choice(names))
    return {name: arguments[name] for name in names}


def _published_form(task: Task) -> dict[str, dict[str, dict[str, dict[str, JSON]]]]:
    """The goals as josh-train's call handler reads them."""
    form: dict[str, dict[str, dict[str, dict[str, JSON]]]] = {}
    for goal in task.goals:
        tools = form.setdefault(goal.domain, {"success": {}})["success"]
        tools[goal.kind] = {"parameters": dict(goal.arguments)}
        if "entity" in goal.details:
            tools[goal.kind] |= {
                "unique_id": goal.details["entity"],
                "returns": goal.details["booking"],
            }
    return form


if __name__ == "__main__":
    main()
