"""A customer's calls as a model writes and reads them; its model sees both sides' roles swapped."""

from __future__ import annotations

from collections.abc import Iterator

from drl.domains.conversation import LONGEST, audible
from drl.llm.base import Completion, Message, ToolUse
from drl.runtime.surrogates import writable
from drl.runtime.tool_results import as_text
from drl.runtime.written_json import only_object, to_text
from drl.types import JSON, Role, Step, ToolCall, ToolResult
from drl.user_simulator.base import Encounter


def chat(encounter: Encounter) -> Iterator[Message]:
    """The dialogue so far and the turn in progress: what the agent said, what was done and said."""
    number = 0
    for turn in encounter.history:
        if turn.role is Role.AGENT:
            if turn.text is not None:
                yield Message("user", writable(turn.text) or "(silence)")
            continue
        for step in turn.steps:
            yield from _shown(step, number)
            number += 1
        if turn.text is not None:
            yield Message("assistant", writable(turn.text))
    for step in encounter.steps:
        yield from _shown(step, number)
        number += 1


def read(completion: Completion) -> Step | None:
    """The step of an answer: its calls, else its words as the reply.

    None if it holds nothing, or more than a turn can. Arguments that cannot be read refuse all
    calls of the answer: its result says why. Words beside calls are private.
    """
    words = audible(writable(completion.text))
    text = words
    if completion.tool_calls:
        uses: list[JSON] = [_written(use) for use in completion.tool_calls]
        text = to_text({"content": words, "tool_calls": uses})
    if not text or len(text) > LONGEST:
        return None
    if not completion.tool_calls:
        return Step(text, reply=words)
    calls: list[ToolCall] = []
    for use in completion.tool_calls:
        name = writable(use.name)
        try:
            arguments = only_object(use.arguments) if use.arguments.strip() else {}
        except ValueError as error:
            cause = f"the arguments of {name} cannot be read: {error}; nothing was done"
            return Step(text, plan=words, results=(ToolResult(None, error=cause),))
        calls.append(ToolCall(name, arguments))
    return Step(text, plan=words, calls=tuple(calls))


def _shown(step: Step, number: int) -> Iterator[Message]:
    """A step with calls, or with calls that were refused; a reply is shown with its turn."""
    if step.calls:
        uses = tuple(
            ToolUse(f"c{number:05}{place:03}", call.name, to_text(dict(call.arguments)))
            for place, call in enumerate(step.calls)
        )
        yield Message("assistant", step.plan, tool_calls=uses)
        for use, result in zip(uses, step.results, strict=True):
            yield Message("tool", _told(result), tool_call_id=use.id)
    elif step.reply is None:
        yield Message("assistant", step.text)
        yield Message("user", "\n".join(map(_told, step.results)))


def _told(result: ToolResult) -> str:
    return writable(as_text(result))


def _written(use: ToolUse) -> dict[str, JSON]:
    return {"name": writable(use.name), "arguments": writable(use.arguments)}
