"""Answers from a list instead of a model: for tests and for runs that try out a set-up.

An answer is a function of messages, tools and seed. A word counts as a token.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from random import Random
from typing import Literal

import pydantic_core
from pydantic import ConfigDict, TypeAdapter, ValidationError

from drl.errors import ConfigError
from drl.llm._words import count_prompt, cut, words
from drl.llm.base import LLM, Completion, Completions, OutageError, Request, ToolUse, Usage
from drl.types import JSON


@dataclass(frozen=True)
class _Call:
    name: str
    arguments: Mapping[str, JSON]
    __pydantic_config__ = ConfigDict(extra="forbid")


@dataclass(frozen=True)
class _Reply:
    """What is said, and the tools that are called with it."""

    text: str = ""
    calls: tuple[_Call, ...] = ()
    __pydantic_config__ = ConfigDict(extra="forbid")


class ScriptedLLM(LLM):
    """Says one of its replies: text, or a mapping with `text` and `calls` (name, arguments).

    Args:
        model: a name for reports.
        replies: what it can say.
        order: `turn` goes through the replies with the assistant's messages; `hash` draws one by
            messages, tools and seed, so that siblings differ.
        latency_s: seconds until it answers.
        fault_rate: chance that a call is an outage, drawn by request and attempt: a repeated
            call may succeed.
    """

    in_process = True

    def __init__(
        self,
        *,
        model: str,
        replies: Sequence[str | Mapping[str, JSON]],
        order: Literal["hash", "turn"],
        latency_s: float,
        fault_rate: float,
    ) -> None:
        if not replies:
            raise ConfigError("llm.replies=[] must hold at least one reply; add one")
        if latency_s < 0:
            raise ConfigError(f"llm.latency_s={latency_s} must not be negative; raise it")
        if not 0 <= fault_rate <= 1:
            raise ConfigError(f"llm.fault_rate={fault_rate} must lie in [0, 1]; it is a chance")
        self._model = model
        self._replies = [_read(number, reply) for number, reply in enumerate(replies)]
        self._order = order
        self._latency_s = latency_s
        self._fault_rate = fault_rate
        self._attempts: Counter[bytes] = Counter()

    @property
    def model(self) -> str:
        """The name in reports."""
        return self._model

    @property
    def identity(self) -> Mapping[str, str]:
        """Its name and a digest of what it says."""
        return self._identity

    @cached_property
    def _identity(self) -> Mapping[str, str]:
        script = blake2b(pydantic_core.to_json((self._replies, self._order)), digest_size=8)
        return {"backend": "scripted", "model": self._model, "script": script.hexdigest()}

    async def complete(self, request: Request) -> Completions:
        """The replies that the script holds for a request.

        Raises:
            OutageError: as often as `fault_rate` says.
        """
        prompt = repr((request.messages, request.tools, request.tool_choice)).encode()
        asked = blake2b(prompt + repr(request.seeds).encode(), digest_size=8).digest()
        self._attempts[asked] += 1
        if Random(asked + b"%d" % self._attempts[asked]).random() < self._fault_rate:
            raise OutageError(
                f"llm.model={self._model}: failed on purpose (llm.fault_rate={self._fault_rate})"
            )
        if self._latency_s:
            await asyncio.sleep(self._latency_s)
        choices = [
            _say(self._replies[self._position(prompt, request, seed)], request)
            for seed in request.seeds
        ]
        usage = Usage(
            tokens_in=count_prompt(request),
            tokens_cached=0,
            tokens_out=sum(len(words(choice.text)) for choice in choices),
        )
        return Completions(tuple(choices), usage, seconds=self._latency_s)

    async def close(self) -> None:
        """Nothing is open."""

    def _position(self, prompt: bytes, request: Request, seed: int) -> int:
        if self._order == "turn":
            turn = sum(message.role == "assistant" for message in request.messages)
            return turn % len(self._replies)
        luck = b"" if request.sampling.temperature == 0 else b"%d" % seed
        return Random(blake2b(prompt + luck).digest()).randrange(len(self._replies))


def _read(number: int, reply: str | Mapping[str, JSON]) -> _Reply:
    if isinstance(reply, str):
        return _Reply(text=reply)
    try:
        return TypeAdapter(_Reply).validate_python(reply)
    except ValidationError as error:
        raise ConfigError(
            f"llm.replies[{number}]={dict(reply)} must be a text, or have `text` and `calls` with "
            f"name and arguments each ({error.errors()[0]['msg']}); mend it"
        ) from error


def _say(reply: _Reply, request: Request) -> Completion:
    """The reply as far as the request lets it: tools, stop strings and length."""
    text, is_cut = cut(reply.text, request.sampling)
    uses: tuple[ToolUse, ...] = ()
    if request.tools and request.tool_choice == "auto" and not is_cut:
        uses = tuple(
            ToolUse(f"call_{number}", call.name, json.dumps(dict(call.arguments)))
            for number, call in enumerate(reply.calls)
        )
    return Completion(text, "length" if is_cut else "tool_calls" if uses else "stop", uses)
