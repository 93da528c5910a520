"""Which outputs are fit to be learned."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

from drl.llm.base import Message
from drl.miner._dialogues import Dialogues, Output
from drl.play.moves import OUT_OF_CALLS
from drl.types import ToolResult, Turn

_ERROR = re.compile(r"\b(?:ERROR|FAILURE)\b|\bError:")
_PAPER_ERRORS = ("ERROR:", "Error:", "FAILURE")
_RETURN = "APIRETURN"
_NO_TEXT = "\N{REPLACEMENT CHARACTER}"
"""Stands where a model's tokens were no text."""


def is_own(dialogues: Dialogues, output: Output) -> bool:
    """Whether the agent would write it, and end it there.

    So it keeps to the agent's limits, is not what stands in for a reply, was not cut by a limit of
    tokens, and holds nothing that was no text.
    """
    return (
        output.step.reply != OUT_OF_CALLS
        and not output.step.is_cut
        and dialogues.is_asked(output)
        and _is_text(dialogues.message(output))
    )


def is_clean(dialogues: Dialogues, output: Output) -> bool:
    """Whether it is the agent's own, calls or replies, and neither is nor brought an error."""
    step = output.step
    return (
        bool(step.calls or step.reply is not None)
        and is_own(dialogues, output)
        and not any(map(_is_error, step.results))
        and not _ERROR.search(dialogues.message(output).content)
    )


def is_clean_for_paper(messages: Sequence[Message], turns: Iterable[Turn]) -> bool:
    """Whether josh-train's recipe keeps a dialogue: nothing in it holds a word of its errors.

    The turns as they were played are asked as well as the messages, so that a dialogue is not kept
    in one form and dropped in another, which words its errors otherwise.
    """
    spoken = [message.content for message in messages if message.role != "assistant"]
    written = [message.content for message in messages if message.role == "assistant"]
    for turn in turns:
        spoken.append(turn.text or "")
        written += [step.text for step in turn.steps]
        spoken += [_text(result) for step in turn.steps for result in step.results]
    return not any(
        any(word in text for word in _PAPER_ERRORS) for text in (*spoken, *written)
    ) and not any(_RETURN in text for text in written)


def _is_text(message: Message) -> bool:
    called = (part for call in message.tool_calls for part in (call.name, call.arguments))
    return not any(_NO_TEXT in part for part in (message.content, *called))


def _text(result: ToolResult) -> str:
    value = json.dumps(result.value, ensure_ascii=False, default=str)
    return f"{value} {result.error or ''}"


def _is_error(result: ToolResult) -> bool:
    return result.error is not None or _ERROR.search(_text(result)) is not None
