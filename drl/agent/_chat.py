"""A dialogue as an agent's model sees it: the customer's words, its own outputs, what they did."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from drl.agent.base import Situation
from drl.domains.conversation import LONGEST
from drl.llm.base import Message
from drl.runtime.surrogates import writable
from drl.types import Role, Step, ToolResult

NOT_CARRIED_OUT = "not carried out: the calls of this turn were used up"
"""What a call beyond the limit gave."""

_HEAD = 2_000
"""Characters that are shown of an output which was refused for its length."""


def conversation(
    situation: Situation,
    shown: Callable[[Step, int], Iterable[Message]],
    spoken: Callable[[str], str],
) -> list[Message]:
    """The dialogue so far and the turn in progress.

    `shown` gives the messages of an own step by its number in the dialogue; `spoken` the output
    that says a text, for words that no step of the agent accounts for.
    """
    messages: list[Message] = []
    number = 0
    for turn in situation.history:
        if turn.role is Role.USER:
            if turn.text is not None:
                messages.append(Message("user", turn.text))
            continue
        for step in turn.steps:
            messages += shown(step, number)
            number += 1
        if turn.text and all(step.reply is None for step in turn.steps):
            messages.append(Message("assistant", spoken(turn.text)))
    for step in situation.steps:
        messages += shown(step, number)
        number += 1
    return [replace(message, content=writable(message.content)) for message in messages]


def with_note(messages: Sequence[Message], note: str) -> list[Message]:
    """The messages with a note at their end; joined to the last where that is a user's.

    Chat templates often insist that user and assistant alternate.
    """
    *before, last = messages
    if last.role != "user":
        return [*messages, Message("user", note)]
    return [*before, replace(last, content=f"{last.content}\n\n{note}")]


def seen(text: str) -> str:
    """An output as its author sees it again: never empty, and without end only up to a point."""
    if len(text) > LONGEST:
        return f"{text[:_HEAD]} ..."
    return text if text.strip() else "(no text)"


def too_long(text: str) -> Step | None:
    """The refusal of an output that is no turn of a dialogue any more."""
    if len(text) <= LONGEST:
        return None
    cause = f"the output has {len(text)} characters, more than {LONGEST}; write much less"
    return Step(text=text, results=(ToolResult(None, error=f"Nothing was done: {cause}"),))
