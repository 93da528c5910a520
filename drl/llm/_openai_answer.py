"""Answers of chat completions: read without trust, so that whatever comes is data or is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from drl.llm.base import Completion, FinishReason, ToolUse, Usage
from drl.runtime.surrogates import writable
from drl.types import JSON, Sampled

CHARACTERS_PER_TOKEN: Final = 4
"""Of English; used only where a server does not count."""

_FINISH: Final[Mapping[JSON, FinishReason]] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
}
_BROKEN_OFF: Final = {"abort", "error"}


class MalformedAnswerError(ValueError):
    """The body of an answer is not what the protocol says; the message is a few words."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The samples of one answer, of which there may be fewer than asked for, but one at least."""

    choices: tuple[Completion, ...]
    usage: Usage
    has_token_ids: bool


def read_answer(data: bytes, request_size: int) -> Answer:
    """The answer in a body. Bytes that are not UTF-8 and half characters become U+FFFD.

    Args:
        data: the body.
        request_size: bytes that were sent, to estimate tokens where the server does not count.

    Raises:
        MalformedAnswerError: it is not JSON or holds no whole choice.
    """
    try:
        read: JSON = json.loads(data.decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        raise MalformedAnswerError("an answer that is not JSON") from None
    if not isinstance(read, Mapping):
        raise MalformedAnswerError("an answer that is not an object")
    listed = read.get("choices")
    if not isinstance(listed, list) or not listed:
        raise MalformedAnswerError("an answer without choices")
    prompt_ids = read.get("prompt_token_ids")
    choices = tuple(_choice(choice, prompt_ids) for choice in sorted(listed, key=_index))
    return Answer(
        choices,
        _usage(read.get("usage"), choices, request_size),
        has_token_ids=any(
            isinstance(choice, Mapping) and choice.get("token_ids") is not None for choice in listed
        ),
    )


def _index(choice: JSON) -> int:
    index = choice.get("index") if isinstance(choice, Mapping) else None
    return index if isinstance(index, int) else 0


def _choice(choice: JSON, prompt_ids: JSON) -> Completion:
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(choice, Mapping) or not isinstance(message, Mapping):
        raise MalformedAnswerError("a choice without a message")
    finish = choice.get("finish_reason")
    known = finish if isinstance(finish, str) else None
    if known in _BROKEN_OFF:
        raise MalformedAnswerError("an answer that the server broke off")
    uses = tuple(_tool_uses(message.get("tool_calls")))
    text = message.get("content") or message.get("refusal") or ""
    if not isinstance(text, str):
        raise MalformedAnswerError("content that is not text")
    return Completion(
        text=writable(text),
        finish_reason=_FINISH.get(known, "tool_calls" if uses else "stop"),
        tool_calls=uses,
        sampled=_sampled(choice, choice.get("prompt_token_ids", prompt_ids)),
    )


def _tool_uses(calls: JSON) -> list[ToolUse]:
    if calls is None:
        return []
    if not isinstance(calls, list):
        raise MalformedAnswerError("tool calls that are no list")
    return [_tool_use(call, number) for number, call in enumerate(calls)]


def _tool_use(call: JSON, number: int) -> ToolUse:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(call, Mapping) or not isinstance(function, Mapping):
        raise MalformedAnswerError("a tool call without a function")
    arguments = function.get("arguments")
    if not isinstance(arguments, str):
        arguments = json.dumps({} if arguments is None else arguments)
    return ToolUse(
        id=writable(str(call.get("id") or f"call_{number}")),
        name=writable(str(function.get("name") or "")),
        arguments=writable(arguments),
    )


def _sampled(choice: Mapping[str, JSON], prompt_ids: JSON) -> Sampled | None:
    """The exact tokens, where ids and log-probabilities are all there; vLLM and SGLang give them.

    Source: `return_token_ids` in the request classes of both servers.
    """
    prompt, tokens = _ids(prompt_ids), _ids(choice.get("token_ids"))
    logprobs = choice.get("logprobs")
    content = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    if prompt is None or tokens is None or not isinstance(content, list):
        return None
    found = [entry.get("logprob") for entry in content if isinstance(entry, Mapping)]
    log_probs = tuple(float(number) for number in found if isinstance(number, int | float))
    return Sampled(prompt, tokens, log_probs) if len(log_probs) == len(tokens) else None


def _ids(value: JSON) -> tuple[int, ...] | None:
    if not isinstance(value, list):
        return None
    ids = tuple(token for token in value if isinstance(token, int))
    return ids if len(ids) == len(value) else None


def _usage(counted: JSON, choices: Sequence[Completion], request_size: int) -> Usage:
    fields = counted if isinstance(counted, Mapping) else {}
    details = fields.get("prompt_tokens_details")
    made = sum(len(c.text) + sum(len(u.arguments) for u in c.tool_calls) for c in choices)
    tokens_in = _count(fields.get("prompt_tokens"), request_size // CHARACTERS_PER_TOKEN)
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else None
    return Usage(
        tokens_in=tokens_in,
        tokens_cached=min(_count(cached, 0), tokens_in),
        tokens_out=_count(fields.get("completion_tokens"), made // CHARACTERS_PER_TOKEN),
    )


def _count(value: JSON, otherwise: int) -> int:
    return value if isinstance(value, int) and value >= 0 else otherwise
