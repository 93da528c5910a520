"""Models as the config makes them, quick to give up, and requests to them."""

import asyncio
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from drl.llm.base import LLM, Completions, Message, Request, Sampling
from drl.runtime.compose import compose
from drl.runtime.config import build, to_plain
from drl.types import JSON

CONF = Path(__file__).parents[2] / "conf"
QUICK = {"timeout_s": 5.0, "retry_s": 0.01, "api_key_env": None}


def make(option: str, **settings: JSON) -> LLM:
    """The model of an option of the group `llm`, with other settings."""
    llm = build("llm", _node(option) | settings)
    assert isinstance(llm, LLM)
    return llm


@cache
def _node(option: str) -> dict[str, JSON]:
    node = to_plain(compose(CONF, [f"llm={option}"]))["llm"]
    assert isinstance(node, dict)
    return node


def make_openai(base_url: str, option: str = "openai", **settings: JSON) -> LLM:
    """A model behind a server on loopback."""
    return make(option, **{**QUICK, "base_url": base_url, **settings})


def request(
    text: str = "hello", seeds: Sequence[int] = (1,), *, temperature: float = 1.0, **more: object
) -> Request:
    """One user message."""
    sampling = more.pop("sampling", Sampling(temperature, max_tokens=16))
    messages = more.pop("messages", (Message("user", text),))
    return Request(messages, sampling, tuple(seeds), "agent", **more)  # pyright: ignore


def ask(llm: LLM, *requests: Request) -> list[Completions]:
    """The completions of requests that are asked side by side; the model is closed after."""

    async def run() -> list[Completions]:
        try:
            return list(await asyncio.gather(*(llm.complete(request) for request in requests)))
        finally:
            await llm.close()

    return asyncio.run(run())


def ask_one(llm: LLM, asked: Request | None = None) -> Completions:
    """The completions of one request."""
    return ask(llm, asked or request())[0]
