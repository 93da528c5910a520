"""Which outputs are fit to be learned."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from drl.llm.base import Message
from drl.miner._dialogues import Dialogues, Output
from drl.play.moves import OUT_OF_CALLS
from drl.types import ToolResult

_ERROR = re.compile(r"\b(?:ERROR|FAILURE)\b|\bError:")
_PAPER_ERRORS = ("ERROR:", "Error:", "FAILURE")
_RETURN = "APIRETURN"


def is_own(dialogues: Dialogues, output: Output) -> bool:
    """Whether the agent would write it: within its limits, and not what stands in for a reply."""
    return output.step.reply != OUT_OF_CALLS and dialogues.is_asked(output)


def is_clean(dialogues: Dialogues, output: Output) -> bool:
    """Whether it is the agent's own, calls or replies, and neither is nor brought an error."""
    step = output.step
    return (
        bool(step.calls or step.reply is not None)
        and is_own(dialogues, output)
        and not any(map(_is_error, step.results))
        and not _ERROR.search(dialogues.message(output).content)
    )


def is_clean_for_paper(messages: Iterable[Message]) -> bool:
    """Whether josh-train's recipe keeps a dialogue: no message holds a word of its errors."""
    return not any(
        any(word in message.content for word in _PAPER_ERRORS)
        or (message.role == "assistant" and _RETURN in message.content)
        for message in messages
    )


def _is_error(result: ToolResult) -> bool:
    if result.error is not None:
        return True
    return _ERROR.search(json.dumps(result.value, ensure_ascii=False, default=str)) is not None
