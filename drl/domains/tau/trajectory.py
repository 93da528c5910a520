"""Dialogues of tau-bench's result files as turns: with native tool calls, or actions in text.

A tool-calling agent writes `tool_calls`, and what they gave stands in messages of `tool`. A ReAct
or Act agent writes an action in JSON after the last "Action:" and finds what it gave in a message
of `user` that begins with "API output: "; what is no JSON there is said to the user.
Source: tau-bench `agents/tool_calling_agent.py`, `agents/chat_react_agent.py`.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from drl.domains.tau.marks import ACTION, CONTENT, OUTPUT, RESPOND, STOP, THOUGHT
from drl.domains.tau.tools import TRANSFER, is_error
from drl.errors import DataError
from drl.runtime.written_json import only_object
from drl.types import JSON, Role, Step, ToolCall, ToolResult, Turn

Message: TypeAlias = Mapping[str, JSON]


def form_of(messages: Sequence[Message]) -> Literal["tools", "text"]:
    """How the agent of a dialogue acts."""
    if any(message.get("tool_calls") or message.get("role") == "tool" for message in messages):
        return "tools"
    own = [_text(message) for message in messages if message.get("role") == "assistant"]
    return "text" if any(ACTION in text for text in own) else "tools"


def turns_of(messages: Sequence[Message]) -> list[Turn]:
    """The turns of a dialogue; the system prompt is left out.

    An agent's step holds what was written, as our agents of that form keep it. The text of a turn
    is None where the dialogue ends before the agent has spoken.

    Raises:
        DataError: a message has another role, or is not where it can be.
    """
    growing = _Growing(form_of(messages) == "tools")
    for number, message in enumerate(messages):
        try:
            growing.add(message)
        except (DataError, KeyError) as error:
            raise DataError(f"message {number} cannot be read ({error})") from error
    return list(growing.turns())


@dataclass(slots=True)
class _Growing:
    """The turns so far, and the agent's turn in progress."""

    has_tools: bool
    _done: list[Turn] = field(default_factory=list)
    _steps: list[Step] = field(default_factory=list)

    def add(self, message: Message) -> None:
        """Take the next message."""
        match message.get("role"):
            case "system" if not self._done and not self._steps:
                return
            case "user" if self._awaits_output():
                self._give(_text(message).removeprefix(OUTPUT))
            case "user":
                self._speak(None)
                text = _text(message)
                self._done.append(Turn(Role.USER, text, hangs_up=STOP in text))
            case "tool":
                self._give(_text(message))
            case "assistant":
                step = _step_of_calls(message) if self.has_tools else _step_of_text(_text(message))
                self._steps.append(step)
                if step.reply is not None:
                    self._speak(step.reply)
            case other:
                raise DataError(f"its role is {other}")

    def turns(self) -> Iterator[Turn]:
        """All of them, the one in progress too."""
        yield from self._done
        if self._steps:
            hangs_up = any(result.ends for result in self._steps[-1].results)
            steps = tuple(map(_carried_out, self._steps))
            yield Turn(Role.AGENT, "" if hangs_up else None, steps, hangs_up)

    def _awaits_output(self) -> bool:
        return not self.has_tools and bool(self._steps) and self._steps[-1].reply is None

    def _give(self, text: str) -> None:
        """What the next call of the last step gave."""
        step = self._steps[-1] if self._steps else None
        number = len(step.results) if step else 0
        if step is None or number >= max(1, len(step.calls)):
            raise DataError("no call precedes it")
        ends = bool(step.calls) and step.calls[number].name == TRANSFER
        result = ToolResult(text, error=text if is_error(text) else None, ends=ends)
        self._steps[-1] = replace(step, results=(*step.results, result))

    def _speak(self, text: str | None) -> None:
        """Finish the agent's turn, if one is in progress; without a text it said nothing."""
        if self._steps:
            steps = tuple(map(_carried_out, self._steps))
            self._done.append(Turn(Role.AGENT, text or "", steps))
            self._steps = []


def _step_of_calls(message: Message) -> Step:
    """What a model with native calls wrote."""
    content = _text(message)
    uses = [_use(call) for call in _listed(message.get("tool_calls"))]
    written: list[JSON] = [{"name": name, "arguments": raw} for name, raw in uses]
    text = json.dumps({"content": content, "tool_calls": written}, ensure_ascii=False)
    if not uses:
        return Step(text, reply=content)
    try:
        calls = tuple(ToolCall(name, only_object(raw)) for name, raw in uses)
    except ValueError:
        return Step(text, plan=content)
    return Step(text, plan=content, calls=calls)


def _step_of_text(text: str) -> Step:
    """What a ReAct or Act agent wrote."""
    before, _, action = text.rpartition(ACTION)
    plan = before.replace(THOUGHT, "").strip()
    try:
        read = only_object(action)
        name, arguments = str(read["name"]), read["arguments"]
        if not isinstance(arguments, Mapping):
            raise ValueError("arguments are an object")
    except (ValueError, KeyError):
        return Step(text, plan=plan, reply=action.strip())
    if name == RESPOND:
        return Step(text, plan=plan, reply=str(arguments.get(CONTENT, "")))
    return Step(text, plan=plan, calls=(ToolCall(name, arguments),))


def _use(call: JSON) -> tuple[str, str]:
    """The name and the raw arguments of a call."""
    if not isinstance(call, Mapping) or not isinstance(function := call.get("function"), Mapping):
        raise DataError("a tool call without function")
    return str(function["name"]), str(function["arguments"])


def _listed(calls: JSON) -> Sequence[JSON]:
    if calls is None:
        return ()
    if not isinstance(calls, list):
        raise DataError("tool_calls are no list")
    return calls


def _carried_out(step: Step) -> Step:
    """The step without the calls that gave nothing: they were not carried out."""
    return replace(step, calls=step.calls[: len(step.results)])


def _text(message: Message) -> str:
    """The text of a message; none is an empty one."""
    content = message.get("content")
    return content if isinstance(content, str) else ""
