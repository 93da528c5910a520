"""Requests in the words of OpenAI's chat completions, and what a server knows beyond the core."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from drl.errors import ConfigError
from drl.llm.base import Message, Request, ToolUse
from drl.runtime.surrogates import writable
from drl.types import JSON

MaxTokensField = Literal["max_tokens", "max_completion_tokens"]

_SEED_BITS: Final = 0x7FFF_FFFF
"""Seeds are cut to 31 bits: llama.cpp keeps 32, and takes the largest for "draw one"."""

_OURS: Final = {
    *("model", "messages", "tools", "tool_choice", "n", "seed", "temperature", "top_p", "top_k"),
    *("stop", "max_tokens", "max_completion_tokens", "stream", "logprobs", "return_token_ids"),
}
_NO_NAME: Final = re.compile(r"[^a-zA-Z0-9_-]")
_LONGEST_NAME: Final = 64


@dataclass(frozen=True)
class Dialect:
    """How a model is called and what its server takes; all are settings of `llm=openai`."""

    model: str
    max_tokens_field: MaxTokensField
    send_seed: bool
    send_top_k: bool
    return_tokens: bool
    extra_body: Mapping[str, JSON]

    def __post_init__(self) -> None:
        """Check the settings."""
        if not self.model.strip():
            raise ConfigError(f"llm.model={self.model!r} must name a model; say which")
        ours = sorted(_OURS & self.extra_body.keys())
        if ours:
            raise ConfigError(
                f"llm.extra_body.{ours[0]}={self.extra_body[ours[0]]} is set elsewhere: sampling "
                "belongs to the agent or user, the rest to llm; remove it here"
            )

    def body(self, request: Request) -> dict[str, JSON]:
        """The request but for `n` and `seed`.

        Raises:
            ConfigError: it asks for what the server does not know.
        """
        sampling = request.sampling
        body: dict[str, JSON] = {
            "model": self.model,
            "messages": [_message(message) for message in request.messages],
            self.max_tokens_field: sampling.max_tokens,
        }
        if sampling.temperature is not None:
            body["temperature"] = sampling.temperature
        if sampling.top_p is not None:
            body["top_p"] = sampling.top_p
        if sampling.top_k is not None:
            if not self.send_top_k:
                raise ConfigError(
                    f"llm.send_top_k=false, but the {request.purpose} samples with top_k="
                    f"{sampling.top_k}; set its top_k=null, or llm.send_top_k=true if the server "
                    "knows it (vLLM, SGLang and llama.cpp do, OpenAI does not)"
                )
            body["top_k"] = sampling.top_k
        if sampling.stop:
            body["stop"] = list(sampling.stop)
        if request.tools:
            body["tools"] = [tool.to_openai() for tool in request.tools]
            body["tool_choice"] = request.tool_choice
        if self.return_tokens:
            body["logprobs"] = True
            body["return_token_ids"] = True
        return body | dict(self.extra_body)

    def for_samples(self, body: Mapping[str, JSON], n: int, seed: int) -> dict[str, JSON]:
        """The body that asks for `n` samples at once, the first with this seed."""
        asked = dict(body)
        if n > 1:
            asked["n"] = n
        if self.send_seed:
            asked["seed"] = seed & _SEED_BITS
        return asked


def encode(body: Mapping[str, JSON]) -> bytes:
    """The body as it is sent; half a character (a lone surrogate) becomes U+FFFD."""
    return writable(json.dumps(body, ensure_ascii=False, separators=(",", ":"))).encode()


def _message(message: Message) -> dict[str, JSON]:
    written: dict[str, JSON] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        written["content"] = message.content or None
        written["tool_calls"] = [_tool_call(use) for use in message.tool_calls]
    if message.tool_call_id is not None:
        written["tool_call_id"] = message.tool_call_id
    return written


def _tool_call(use: ToolUse) -> dict[str, JSON]:
    """A call in the history; servers refuse odd names there, and arguments that are not JSON."""
    name = _NO_NAME.sub("_", use.name)[:_LONGEST_NAME] or "_"
    function = {"name": name, "arguments": _readable(use.arguments)}
    return {"id": use.id, "type": "function", "function": function}


def _readable(arguments: str) -> str:
    try:
        if isinstance(json.loads(arguments), dict):
            return arguments
    except (ValueError, RecursionError):
        pass  # what could not be read is shown to the model as text, below
    return json.dumps({"unreadable": arguments})
