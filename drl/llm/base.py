"""A language model: from messages to sampled continuations.

Models hold settings; weights load and connections open at the first call. What a run does with
calls (cache, ledger, budget, one request for siblings) lives in `drl.calls`: a model only answers.

To add one, write `drl/llm/<name>.py` with a final `LLM` and `conf/llm/<name>.yaml`;
`tests/contracts/test_llm.py` then tests it without further work.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from drl.errors import ConfigError, DrlError
from drl.types import JSON, Place, Sampled, ToolSpec

if TYPE_CHECKING:
    from drl.models.chat_template import ChatTemplate
    from drl.models.load import Loaded

Purpose = Literal["agent", "user", "judge"]
"""For whom a call is made; the ledger adds up by it."""

FinishReason = Literal["stop", "length", "tool_calls", "content_filter"]


class OutageError(DrlError, RuntimeError):
    """A model could not be reached or kept failing after all retries; says nothing of the agent."""

    retries: int = 0
    """How often it was asked again before it was given up."""


class ContextOverflowError(DrlError, ValueError):
    """A prompt with the tokens asked for is longer than the model's context; names both lengths."""


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool call as a model wrote it; `arguments` is the raw text, which may not be JSON."""

    id: str
    name: str
    arguments: str

    def parsed(self) -> JSON:
        """The arguments as an object, or the raw text where they are none."""
        try:
            read = json.loads(self.arguments)
        except (ValueError, RecursionError):
            return self.arguments
        return read if isinstance(read, dict) else self.arguments


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat; `tool_call_id` names the call that a tool's message answers."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: tuple[ToolUse, ...] = ()
    tool_call_id: str | None = None

    @property
    def num_characters(self) -> int:
        """Of its text, and of the names and arguments of its calls."""
        called = sum(len(call.name) + len(call.arguments) for call in self.tool_calls)
        return len(self.content) + called

    def plain(self) -> dict[str, JSON]:
        """As chat templates expect it: tool arguments as objects where they are some."""
        plain: dict[str, JSON] = {"role": self.role, "content": self.content}
        if self.tool_calls:
            plain["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.parsed()},
                }
                for call in self.tool_calls
            ]
        if self.tool_call_id is not None:
            plain["tool_call_id"] = self.tool_call_id
        return plain


@dataclass(frozen=True, slots=True)
class Sampling:
    """How to draw tokens; a setting of the participant who asks.

    At temperature 0 the likeliest token is taken; without one a server draws at its own, and a
    model in this process at 1. None leaves a filter out. A text ends before the first of `stop`;
    `max_tokens` bounds what is generated.
    """

    temperature: float | None
    max_tokens: int
    top_p: float | None = None
    top_k: int | None = None
    stop: tuple[str, ...] = ()

    def check(self, group: str) -> None:
        """Refuse what no model can follow; `group` is where the settings stand.

        Raises:
            ConfigError: a setting lies outside of its range.
        """
        if self.temperature is not None and not 0.0 <= self.temperature <= 2.0:
            raise ConfigError(
                f"{group}.temperature={self.temperature} must lie in [0, 2]; 0 repeats itself"
            )
        if self.top_p is not None and not 0.0 < self.top_p <= 1.0:
            raise ConfigError(
                f"{group}.top_p={self.top_p} must lie above 0 and up to 1; null leaves it out"
            )
        if "" in self.stop:
            raise ConfigError(f"{group}.stop holds an empty text, which ends all; take it out")
        for name, value in (("max_tokens", self.max_tokens), ("top_k", self.top_k)):
            if value is not None and value < 1:
                raise ConfigError(f"{group}.{name}={value} must be at least 1; raise it")


@dataclass(frozen=True, slots=True)
class Request:
    """A prompt and how often to continue it: `n` samples, sample i with seed `seeds[i]`.

    `tool_choice` "none" forbids tool calls although tools are shown.
    """

    messages: tuple[Message, ...]
    sampling: Sampling
    seeds: tuple[int, ...]
    purpose: Purpose
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: Literal["auto", "none"] = "auto"
    place: Place | None = None

    @property
    def n(self) -> int:
        """Samples asked for."""
        return len(self.seeds)


@dataclass(frozen=True, slots=True)
class Completion:
    """One sample. `sampled` holds exact tokens where the backend gives them."""

    text: str
    finish_reason: FinishReason
    tool_calls: tuple[ToolUse, ...] = ()
    sampled: Sampled | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request: prompt (of which `cached` were not computed again) and generated."""

    tokens_in: int
    tokens_cached: int
    tokens_out: int


@dataclass(frozen=True, slots=True)
class Completions:
    """The samples of one request in the order of its seeds, and what they took."""

    choices: tuple[Completion, ...]
    usage: Usage
    seconds: float
    retries: int = 0


@dataclass(frozen=True, slots=True)
class Weights:
    """Where the weights of a model lie on this machine, for whoever trains it further.

    `chat_template` is Jinja, or None for the model's own; `adapter` is a folder in PEFT's layout.
    """

    folder: Path
    adapter: Path | None
    dtype: Literal["bfloat16", "float32"]
    device: Literal["cpu", "cuda"]
    chat_template: str | None


def chat_text(
    template: ChatTemplate,
    messages: Sequence[Message],
    tools: Sequence[ToolSpec],
    *,
    reply_follows: bool,
) -> str:
    """A chat as its model reads it; see `ChatTemplate.text`."""
    chat = [message.plain() for message in messages]
    return template.text(chat, [t.to_openai() for t in tools], reply_follows=reply_follows)


class LLM(ABC):
    """Answers requests; many may be in flight at once."""

    in_process: bool = False
    """Whether it runs inside this process and so bills nobody."""

    adapter: str | None = None
    """What it learned beside the weights of its model, as the config names it."""

    keeps_answers: bool = True
    """Whether an answer may be kept and given again; not that of weights that are being trained."""

    computes: bool = False
    """Whether it computes on this machine, so that requests side by side slow one another down."""

    @property
    def takes_several(self) -> bool:
        """Whether several samples are one request to it; if not, each is better asked alone."""
        return True

    @property
    @abstractmethod
    def model(self) -> str:
        """The name under which prices are listed and reports speak of it."""

    @property
    @abstractmethod
    def identity(self) -> Mapping[str, str]:
        """All that decides what a request is answered with: backend, model, adapter digest.

        Part of the key under which answers are cached. Raises what `complete` would raise when
        the model's files cannot be read.
        """

    @abstractmethod
    async def complete(self, request: Request) -> Completions:
        """Samples for a request.

        Raises:
            OutageError: it cannot be reached, or keeps failing after all retries.
            ContextOverflowError: the prompt is too long.
            ConfigError: it will never answer as configured (key, model name, chat template).
        """

    def weights(self) -> Weights:
        """Where its weights lie.

        Raises:
            ConfigError: they are not on this machine, or the files cannot be had.
        """
        raise ConfigError(
            f"llm.model={self.model} is not on this machine, so it cannot be trained here; choose "
            "llm=hf llm.model=NAME, or export rows for its maker with drl export"
        )

    def with_weights(self, loaded: Loaded, version: str) -> LLM:
        """A model of the same settings that answers with weights which are in memory already.

        Args:
            loaded: the model, which stays its owner's, and its tokenizer.
            version: names the weights, and stands in `identity` for them: answers are kept under
                it, also for other runs, so no two weights may ever have the same.

        Raises:
            ConfigError: it cannot answer with weights of this process.
        """
        raise ConfigError(
            f"llm.model={self.model} answers from elsewhere, so the weights that are trained here "
            "cannot speak through it; choose llm=hf llm.model=NAME"
        )

    @abstractmethod
    async def close(self) -> None:
        """Give back connections, threads and memory. The next call opens them anew."""


@dataclass(frozen=True)
class NoLLM(LLM):
    """Stands where no model was chosen: says so when asked."""

    key: str

    @property
    def model(self) -> str:
        """None."""
        return "none"

    @property
    def identity(self) -> Mapping[str, str]:
        """Nothing."""
        return {}

    async def complete(self, request: Request) -> Completions:
        """Refuse."""
        raise ConfigError(
            f"{self.key} is not chosen, but the {request.purpose} speaks through it; add "
            f"{'llm' if self.key == 'llm' else 'llm@' + self.key}=NAME"
        )

    async def close(self) -> None:
        """Nothing is open."""
