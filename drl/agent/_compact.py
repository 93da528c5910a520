"""The shortest language of tool use, for small models that are trained in it.

    CALL {"tool":{"parameter":"value"}}
    SAY text

An output is one command; a RETURN in it, or a second command on a line of its own, is made up and
ends the reading. A call's return is one line, `RETURN key=value; key=value`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from drl.agent._chat import seen
from drl.agent._policy import with_policy
from drl.agent._style import Style
from drl.agent._tool_list import an_example, listed
from drl.domains.conversation import audible
from drl.llm.base import Message
from drl.runtime.prompts import fill
from drl.runtime.written_json import leading_object, to_text
from drl.types import JSON, Step, Toolbox, ToolCall, ToolResult

_COMMAND = re.compile(r"\s*(CALL|SAY)(?!\w):?\s*")
_MADE_UP = re.compile(r"\n\s*(?:CALL|SAY|RETURN)\b")
_RETURN = "RETURN"
_HOW_TO = 'write CALL {"tool":{"parameter":"value"}} or SAY text'
_LONGEST_VALUE = 80
_MOST_ROWS = 5
_NO_TOOLS = Toolbox(())


class CompactStyle(Style):
    """CALL or SAY, one a step, without a plan."""

    stop = ("\nRETURN", "\nCALL", "\nSAY")
    holds_several = False

    @property
    def note(self) -> str:
        """That only a reply is possible."""
        return fill("drl.agent", "compact_last.md")

    def system(self, toolbox: Toolbox) -> str:
        """The two commands, the tools and the policy."""
        example = render_call(an_example(toolbox))
        prompt = fill("drl.agent", "compact.md", tools=listed(toolbox), example=example)
        return with_policy(prompt, toolbox)

    def read(self, text: str, toolbox: Toolbox) -> Step:
        """The call or the reply."""
        command = _COMMAND.match(text)
        if command is None:
            return _refused(text, "this is neither a call nor a reply")
        body = _before_made_up(text[command.end() :])
        if command.group(1) == "SAY":
            return Step(text=text, reply=body) if body else _refused(text, "SAY has no text")
        try:
            return Step(text=text, calls=(_call(body),))
        except ValueError as error:
            return _refused(text, f"the call cannot be read: {error}")

    def read_last(self, text: str) -> Step:
        """What is said, with or without SAY; a call says nothing."""
        command = _COMMAND.match(text)
        if command and command.group(1) == "CALL":
            return Step(text=text)
        body = _before_made_up(text[command.end() if command else 0 :])
        return Step(text=text, reply=None if body.startswith(("{", _RETURN)) else body or None)

    def shown(self, step: Step, number: int) -> Sequence[Message]:
        """The output as it was, without what its author made up; then its result on one line."""
        command = _COMMAND.match(step.text)
        start = command.end() if command else 0
        own = step.text[:start] + _before_made_up(step.text[start:])
        if step.reply is not None:
            reply = self.read(step.text, _NO_TOOLS).reply
            is_own = audible(reply or "") == step.reply
            return [Message("assistant", seen(own if is_own else self.spoken(step.reply)))]
        returned = " ".join(f"{_RETURN} {line(result)}" for result in step.results)
        output = Message("assistant", seen(own if step.calls else step.text))
        return [output, Message("user", returned)] if returned else [output]

    def spoken(self, text: str) -> str:
        """A SAY."""
        return render_reply(text)

    def written(self, step: Step) -> str:
        """A CALL or a SAY; the plan is left out."""
        return render_call(step.calls[0]) if step.calls else render_reply(step.reply or "")


def render_call(call: ToolCall) -> str:
    """The output that calls a tool."""
    body = json.dumps({call.name: dict(call.arguments)}, ensure_ascii=False, separators=(",", ":"))
    return f"CALL {body}"


def render_reply(text: str) -> str:
    """The output that speaks."""
    return f"SAY {text.strip()}"


def line(result: ToolResult) -> str:
    """A call's return on one line: `key=value` for whatever is known, rows parted by a bar."""
    value = result.value
    if result.error is not None:
        return f"error={_brief(result.error)}"
    rows = value if isinstance(value, list | tuple) else [value]
    if not rows:
        return "nothing found"
    shown = [_row(row) for row in rows[:_MOST_ROWS]]
    if len(rows) > _MOST_ROWS:
        shown.append(f"{len(rows) - _MOST_ROWS} more")
    return " | ".join(shown)


def _row(value: JSON) -> str:
    return "; ".join(_fields("", value)) or "done"


def _fields(path: str, value: JSON) -> Iterator[str]:
    """`key=value` for every leaf that is known; keys of nested objects are joined by dots."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _fields(f"{path}.{key}" if path else str(key), inner)
    elif value is not None and value != "":
        text = value if isinstance(value, str) else to_text(value)
        yield f"{path}={_brief(text)}" if path else _brief(text)


def _brief(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE].rstrip()}..."


def _before_made_up(text: str) -> str:
    made_up = _MADE_UP.search(text)
    return (text[: made_up.start()] if made_up else text).strip()


def _call(body: str) -> ToolCall:
    read, rest = leading_object(body)
    if rest.strip() and not rest.lstrip().startswith(_RETURN):
        raise ValueError("more follows the JSON object")
    if len(read) != 1:
        raise ValueError("it must name one tool")
    ((name, arguments),) = read.items()
    if not isinstance(arguments, dict):
        raise ValueError(f"the parameters of {name[:40]!r} must be an object")
    return ToolCall(name, arguments)


def _refused(text: str, cause: str) -> Step:
    return Step(
        text=text, results=(ToolResult(None, error=f"Nothing was done: {cause}; {_HOW_TO}"),)
    )
