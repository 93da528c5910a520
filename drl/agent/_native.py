"""What a model with native tool calls sent, as the text of a step and as messages again.

The text is `{"content": ..., "tool_calls": [{"name": ..., "arguments": "..."}]}` with the raw
arguments. Ids of calls are left out: they are numbered anew whenever messages are made, so equal
dialogues give equal prompts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from drl.agent._chat import NOT_CARRIED_OUT, seen
from drl.agent._rewrite import rewritten
from drl.domains.conversation import LONGEST, audible
from drl.llm.base import Completion, Message, ToolUse
from drl.runtime.surrogates import writable
from drl.runtime.tool_results import value_of
from drl.runtime.written_json import only_object, to_text
from drl.types import JSON, Step, ToolCall, ToolResult

_NO_NAME = re.compile(r"[^a-zA-Z0-9_-]")


def text_of(completion: Completion) -> str:
    """What a model sent, on one line."""
    calls: list[JSON] = [
        {"name": writable(call.name), "arguments": writable(call.arguments)}
        for call in completion.tool_calls
    ]
    return to_text({"content": writable(completion.text), "tool_calls": calls})


def read(text: str) -> Step:
    """The step of what a model sent: its calls, else its content as the reply, else an error.

    One call that is malformed refuses all of them, so that nothing runs that its author did not
    see fail or succeed. Text beside calls is the plan.
    """
    content, uses = _sent(text)
    plan = content.strip()
    if len(text) > LONGEST:
        return _refused(text, "", f"the output has {len(text)} characters, more than {LONGEST}")
    if not uses:
        reply = audible(content)
        return Step(text, reply=reply) if reply else _refused(text, "", "the reply is empty")
    calls: list[ToolCall] = []
    for number, use in enumerate(uses, start=1):
        try:
            calls.append(ToolCall(use.name, _arguments(use.arguments)))
        except ValueError as error:
            return _refused(text, plan, f"the arguments of call {number} cannot be read: {error}")
    return Step(text, plan=plan, calls=tuple(calls))


def read_last(text: str) -> Step:
    """The step of an output that has to be a reply: calls are ignored."""
    content, _ = _sent(text)
    reply = audible(content) if len(text) <= LONGEST else ""
    return Step(text, reply=reply or None)


def as_json(result: ToolResult) -> str:
    """What a call gave, or its error, as JSON."""
    return to_text(value_of(result))


def shown(
    step: Step, number: int, answer: Callable[[ToolResult], str] = as_json
) -> Sequence[Message]:
    """An own step as messages: what was sent, then an answer to every call in it."""
    content, uses = _sent(step.text)
    if step.reply is not None:
        is_own = audible(content) == step.reply
        return [Message("assistant", seen(content if is_own else step.reply))]
    if not uses or len(step.text) > LONGEST:
        errors = [str(result.error) for result in step.results]
        return [Message("assistant", seen(content)), *(Message("user", e) for e in errors)]
    ids = [f"c{number % 100_000:05}{position % 1_000:03}" for position in range(len(uses))]
    asked = tuple(
        ToolUse(id, _name(use.name), _acceptable(use.arguments))
        for id, use in zip(ids, uses, strict=True)
    )
    return [
        Message("assistant", content, tool_calls=asked),
        *(
            Message("tool", answer(result), tool_call_id=id)
            for id, result in zip(ids, _results(step, len(uses)), strict=True)
        ),
    ]


def spoken(text: str) -> str:
    """The output that says a text."""
    return text


def rewrite(step: Step, *, holds_several: bool = True) -> tuple[Step, ...]:
    """A step of whatever agent as native calls, in one output or one each, then its reply."""
    return rewritten(step, read, _written, holds_several=holds_several)


def _written(step: Step) -> str:
    """What a model would have sent: its plan beside calls, or its reply."""
    calls: list[JSON] = [
        {"name": call.name, "arguments": to_text(dict(call.arguments))} for call in step.calls
    ]
    return to_text({"content": step.plan if calls else step.reply, "tool_calls": calls})


def _results(step: Step, num_uses: int) -> list[ToolResult]:
    """One for each call that was sent: its result, or why there is none."""
    given = list(step.results)
    if not step.calls:
        given *= num_uses
    return [*given, *[ToolResult(None, error=NOT_CARRIED_OUT)] * num_uses][:num_uses]


def _sent(text: str) -> tuple[str, tuple[ToolUse, ...]]:
    """Content and calls of a step's text; text in another form (of another agent) is content."""
    try:
        sent = only_object(text)
    except ValueError:
        return text, ()
    content, calls = sent.get("content"), sent.get("tool_calls")
    if not isinstance(content, str) or not isinstance(calls, list):
        return text, ()
    uses = (
        ToolUse("", str(call.get("name")), str(call.get("arguments")))
        for call in calls
        if isinstance(call, dict)
    )
    return content, tuple(uses)


def _arguments(raw: str) -> dict[str, JSON]:
    """The arguments; nothing at all stands for none, as some servers send it."""
    return only_object(raw) if raw.strip() else {}


def _acceptable(raw: str) -> str:
    """The raw arguments where servers can read them back; else an object that quotes them.

    Servers refuse a whole history for one call whose arguments are no JSON object.
    """
    try:
        _arguments(raw)
    except ValueError:
        return to_text({"unreadable": seen(raw)})
    return raw if raw.strip() else "{}"


def _name(name: str) -> str:
    """The name as servers accept it; a legal one stays as it is."""
    return _NO_NAME.sub("_", name)[:64] or "unnamed"


def _refused(text: str, plan: str, cause: str) -> Step:
    return Step(text, plan=plan, results=(ToolResult(None, error=f"Nothing was done: {cause}"),))
