"""Rows as JSON objects: in TRL's conversational formats, and in OpenAI's fine-tuning formats.

TRL (docs "Dataset formats"): `messages`; `prompt`, `completion`, `label`; `prompt`, `chosen`,
`rejected`; with `tools` beside them, and tool arguments as objects. More columns do no harm there,
so a row tells its origin. OpenAI (guides "Supervised fine-tuning" and "Direct preference
optimization") refuses unknown keys, wants tool arguments as text, and an assistant's message last.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Literal

from drl.errors import ConfigError
from drl.llm.base import Message
from drl.miner.base import DPORow, Form, KTORow, Miner, Origin, Row, SFTRow
from drl.types import JSON, ToolSpec

Format = Literal["sft", "dpo", "kto", "openai"]
"""TRL's three, and OpenAI's two, of which the miner decides."""


def form_of(file_format: Format, miner: Miner) -> Form:
    """The form of rows that a format takes: of OpenAI's, dialogues where the miner gives them.

    Raises:
        ConfigError: the miner gives none that OpenAI takes.
    """
    if file_format != "openai":
        return file_format
    for form in ("sft", "dpo"):
        if form in miner.forms:
            return form
    raise ConfigError(
        f"miner: {type(miner).__name__} gives neither sft nor dpo rows, and OpenAI takes no other; "
        "choose another policy"
    )


def to_trl(row: Row) -> dict[str, JSON]:
    """One line of a file for TRL; `trained` are the positions of messages that are learned."""
    tools: dict[str, JSON] = {"tools": _tools(row.tools)} if row.tools else {}
    if isinstance(row, SFTRow):
        messages: JSON = [message.plain() for message in row.messages]
        return {"messages": messages, "trained": row.trained, **tools, **origins(row)}
    prompt: JSON = [message.plain() for message in row.prompt]
    if isinstance(row, KTORow):
        completion: JSON = [row.completion.plain()]
        return {
            "prompt": prompt,
            "completion": completion,
            "label": row.label,
            **tools,
            **origins(row),
        }
    return {
        "prompt": prompt,
        "chosen": [row.chosen.plain()],
        "rejected": [row.rejected.plain()],
        "weight": row.weight,
        **tools,
        **origins(row),
    }


def to_openai(row: Row) -> dict[str, JSON]:
    """One line of a file for OpenAI's fine-tuning; what follows the last output is left out."""
    tools: dict[str, JSON] = {"tools": _tools(row.tools)} if row.tools else {}
    if isinstance(row, SFTRow):
        end = max(row.trained, default=-1) + 1
        trained = set(row.trained)
        messages: JSON = [
            _openai(message) | _weight(message, place in trained)
            for place, message in enumerate(row.messages[:end])
        ]
        return {"messages": messages, **tools}
    assert isinstance(row, DPORow), "`form_of` chose a form that OpenAI takes"
    prompt: JSON = [_openai(message) for message in row.prompt]
    return {
        "input": {"messages": prompt, **tools},
        "preferred_output": [_openai(row.chosen)],
        "non_preferred_output": [_openai(row.rejected)],
    }


def origins(row: Row) -> dict[str, JSON]:
    """Where a row comes from, and for a pair where its worse half does."""
    found: dict[str, JSON] = {"origin": _origin(row.origin)}
    if isinstance(row, DPORow):
        found["rejected_origin"] = _origin(row.rejected_origin)
    return found


def _origin(origin: Origin) -> dict[str, JSON]:
    return asdict(origin)


def _tools(tools: tuple[ToolSpec, ...]) -> list[JSON]:
    return [tool.to_openai() for tool in tools]


def _weight(message: Message, is_trained: bool) -> dict[str, JSON]:
    return {"weight": int(is_trained)} if message.role == "assistant" else {}


def _openai(message: Message) -> dict[str, JSON]:
    """A message of the chat API: arguments as the model wrote them; no empty text beside calls."""
    written: dict[str, JSON] = {"role": message.role}
    if message.content or not message.tool_calls:
        written["content"] = message.content
    if message.tool_calls:
        written["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        written["tool_call_id"] = message.tool_call_id
    return written
