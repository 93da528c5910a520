"""A model of the tests that answers when it is let, and the switchboard to ask it through."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

from drl.calls.line import Line
from drl.calls.settings import CallSettings
from drl.calls.switchboard import Switchboard
from drl.llm.base import LLM, Completion, Completions, Message, Request, Sampling, Usage
from drl.types import Place

Faults = Callable[[Request], Exception | None]


class AnsweringLLM(LLM):
    """Sample with seed 7 of the prompt "x" is "x/7"; `gate` holds all answers back until set.

    A prompt takes 10 tokens, each sample 5, and 2 seconds pass.
    """

    def __init__(
        self,
        *,
        model: str = "answering",
        in_process: bool = False,
        fault: Faults = lambda request: None,
        short: bool = False,
        takes_several: bool = True,
    ) -> None:
        self._takes_several = takes_several
        self._model = model
        self.in_process = in_process
        self._fault = fault
        self._short = short
        self.gate = asyncio.Event()
        self.gate.set()
        self.asked: list[Request] = []
        self.is_closed = False

    @property
    def takes_several(self) -> bool:
        return self._takes_several

    @property
    def model(self) -> str:
        return self._model

    @property
    def identity(self) -> Mapping[str, str]:
        return {"model": self._model}

    async def complete(self, request: Request) -> Completions:
        self.asked.append(request)
        await self.gate.wait()
        if (fault := self._fault(request)) is not None:
            raise fault
        seeds = request.seeds[:-1] if self._short else request.seeds
        prompt = request.messages[-1].content
        choices = tuple(Completion(f"{prompt}/{seed}", "stop") for seed in seeds)
        return Completions(choices, Usage(10, 4, 5 * len(choices)), seconds=2.0, retries=1)

    async def close(self) -> None:
        self.is_closed = True


def request(
    prompt: str = "x", *seeds: int, temperature: float = 1.0, max_tokens: int = 5
) -> Request:
    """A request of an agent in task t1."""
    return Request(
        messages=(Message("user", prompt),),
        sampling=Sampling(temperature=temperature, max_tokens=max_tokens),
        seeds=seeds or (1,),
        purpose="agent",
        place=Place("t1", 0, 3),
    )


def settings(
    *,
    budget_usd: float | None = None,
    budget_tokens: int | None = None,
    cache: bool = True,
    prices: Mapping[str, Mapping[str, float]] | None = None,
) -> CallSettings:
    """The `calls` node."""
    return CallSettings(
        budget_usd=budget_usd, budget_tokens=budget_tokens, cache=cache, prices=prices or {}
    )


def board(folder: Path, calls: CallSettings | None = None, *, cache: str = "cache") -> Switchboard:
    """A switchboard with its ledger and cache below `folder`."""
    return Switchboard(calls or settings(), folder, folder / cache)


async def texts(line: Line, asked: Request) -> list[str]:
    """What the samples of a request say."""
    return [choice.text for choice in (await line.complete(asked)).choices]


async def ticks(count: int = 10) -> None:
    """Let the others go on for some turns of the event loop."""
    for _ in range(count):
        await asyncio.sleep(0)
