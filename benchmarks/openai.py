"""What a call costs on its way through drl, against the bare client of OpenAI.

    python -m benchmarks.openai

5,000 requests are queued at once for a server of 50 ms latency in a process of its own, 256 of
them in flight. `overhead_ratio` is the time through `llm=openai` with ledger and response cache
over that of `AsyncOpenAI` under a semaphore; the two take turns, medians of three count. With so
many in flight both are bound by the processor: `us_per_request` is processor time of this process
per request through drl, `us_per_request_bare` through the bare client.
"""

import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from openai import AsyncOpenAI

from benchmarks._fake_openai import TOKENS_PER_ANSWER
from drl.calls.settings import CallSettings
from drl.calls.switchboard import Switchboard
from drl.llm.base import Message, Request, Sampling
from drl.llm.openai import OpenAILLM

NUM_REQUESTS: Final = 5000
CONCURRENCY: Final = 256
LATENCY_S: Final = 0.05
REPEATS: Final = 3
NUM_WARM_UP: Final = 300
PROMPT: Final = "You work for a travel agency and help customers with trains and hotels. " * 60
"""About as long as a ReAct agent's, tools included."""

MAX_TOKENS: Final = 256


class Spent(NamedTuple):
    """Seconds of wall and of processor time."""

    wall_s: float
    processor_s: float


def main() -> None:
    """Print one JSON object with the results."""
    with fake_server() as base_url:
        asyncio.run(through_drl(base_url, NUM_WARM_UP))
        asyncio.run(bare(base_url, NUM_WARM_UP))
        ours: list[Spent] = []
        theirs: list[Spent] = []
        for _ in range(REPEATS):
            ours.append(asyncio.run(through_drl(base_url, NUM_REQUESTS)))
            theirs.append(asyncio.run(bare(base_url, NUM_REQUESTS)))
    wall_s = statistics.median(spent.wall_s for spent in ours)
    bare_s = statistics.median(spent.wall_s for spent in theirs)
    results = {
        "overhead_ratio": wall_s / bare_s,
        "us_per_request": microseconds(ours),
        "us_per_request_bare": microseconds(theirs),
        "seconds": wall_s,
        "seconds_bare": bare_s,
        "seconds_ideal": NUM_REQUESTS / CONCURRENCY * LATENCY_S,
    }
    print(json.dumps({name: float(f"{value:.5g}") for name, value in results.items()}))


def microseconds(runs: list[Spent]) -> float:
    """Processor time per request, of the median run."""
    return statistics.median(spent.processor_s for spent in runs) / NUM_REQUESTS * 1e6


async def through_drl(base_url: str, num_requests: int) -> Spent:
    """All that a run does with a call: merging, cache, budget, ledger, queue, retries."""
    llm = OpenAILLM(
        model="fake",
        base_url=base_url,
        api_version=None,
        api_key_env=None,
        timeout_s=60.0,
        max_attempts=8,
        retry_s=1.0,
        max_concurrency=CONCURRENCY,
        n_per_request="auto",
        max_tokens_field="max_tokens",
        send_seed=True,
        send_top_k=False,
        return_tokens=False,
        extra_body={},
    )
    settings = CallSettings(budget_usd=None, budget_tokens=None, cache=True, prices={})
    sampling = Sampling(temperature=1.0, max_tokens=MAX_TOKENS)

    async def ask(number: int) -> object:
        messages = (Message("system", PROMPT), Message("user", f"Customer {number}: hello."))
        return await line.complete(Request(messages, sampling, (number,), "agent"))

    with (
        tempfile.TemporaryDirectory() as name,
        Switchboard(settings, Path(name), Path(name)) as board,
    ):
        line = board.line(llm, asyncio.Semaphore(CONCURRENCY))
        spent = await timed(ask, num_requests)
        await board.drain()
        await board.close()
        assert board.ledger.spent_tokens == num_requests * TOKENS_PER_ANSWER
    return spent


async def bare(base_url: str, num_requests: int) -> Spent:
    """The official client as its documentation shows it, and a semaphore."""
    limit = asyncio.Semaphore(CONCURRENCY)
    async with AsyncOpenAI(api_key="none", base_url=base_url) as client:

        async def ask(number: int) -> object:
            async with limit:
                return await client.chat.completions.create(
                    model="fake",
                    messages=[
                        {"role": "system", "content": PROMPT},
                        {"role": "user", "content": f"Customer {number}: hello."},
                    ],
                    temperature=1.0,
                    max_tokens=MAX_TOKENS,
                    seed=number,
                )

        return await timed(ask, num_requests)


async def timed(ask: Callable[[int], Awaitable[object]], num_requests: int) -> Spent:
    """What it takes to ask so many times side by side."""
    wall, processor = time.perf_counter(), time.process_time()
    await asyncio.gather(*(ask(number) for number in range(num_requests)))
    return Spent(time.perf_counter() - wall, time.process_time() - processor)


@contextmanager
def fake_server() -> Iterator[str]:
    """The base URL of a server in a process of its own."""
    command = [sys.executable, "-m", "benchmarks._fake_openai", str(LATENCY_S)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        process.stdin.close()


if __name__ == "__main__":
    main()
