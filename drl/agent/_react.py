"""The text in which agents act: a private plan, then tool calls or a reply.

    PLAN <text> <COMMAND_END> APICALL {"name": ..., "parameters": {...}} <COMMAND_END>
    PLAN <text> <COMMAND_END> SPEAK <text> <COMMAND_END>

A command counts only at the start of the output or right after <COMMAND_END>, so the keywords may
occur in any text. Where a text itself holds the marker, `render_*` puts a backslash before it and
`read` takes it away again. What a call returns is said by others: an APIRETURN in an output, and a
SPEAK after a call, are made up and end the reading. Reading never raises: an output that cannot be
carried out becomes a step without calls and reply whose one result is the error to hand back.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from drl.runtime.written_json import leading_object, to_text
from drl.types import Step, ToolCall, ToolResult

MARK = "<COMMAND_END>"
RETURN = "APIRETURN"
"""The word that begins what a call returned."""

_JSON_MARK = "\\u003cCOMMAND_END>"  # the marker inside a JSON string, where it closes nothing
_BOUNDARY = re.compile(r"(?<!\\)<COMMAND_END>")
_COMMAND = re.compile(r"\s*(PLAN|APICALL|SPEAK)(?!\w):?(.*)", re.DOTALL)
_RETURN = re.compile(rf"\b{RETURN}\b")
_MISPLACED_SPEAK = re.compile(r"(?:^|(?<=[.!?:]))\s*SPEAK(?!\w):?", re.MULTILINE)
_HOW_TO = (
    f"write PLAN <text> {MARK} and then APICALL <one JSON object> {MARK} or SPEAK <text> {MARK}"
)


class Reading(NamedTuple):
    """What an output stands for, and where in it that ends; what follows was not to be written."""

    step: Step
    end: int


class _Segment(NamedTuple):
    """A part of an output up to a marker: where its body starts, and where it ends with it."""

    keyword: str | None
    body: str
    start: int
    end: int


def render_call(plan: str, call: ToolCall) -> str:
    """The output of an agent that plans and calls a tool."""
    body = to_text({"name": call.name, "parameters": dict(call.arguments)})
    return f"{_plan(plan)}APICALL {body.replace(MARK, _JSON_MARK)} {MARK}"


def render_reply(plan: str, text: str) -> str:
    """The output of an agent that plans and speaks; white space around the text is dropped."""
    return f"{_plan(plan)}SPEAK {_escape(text)} {MARK}"


def parse(text: str) -> Step:
    """The step that an output stands for: calls, a reply, or the error to hand back.

    Several calls are all kept, in order. One call that is malformed refuses the whole output, so
    that nothing runs that its author did not see fail or succeed.
    """
    return read(text).step


def read(text: str) -> Reading:
    """The step that an output stands for, and how much of the output that is."""
    plans: list[str] = []
    calls: list[ToolCall] = []
    end = 0
    for segment in _segments(text):
        body = segment.body
        if segment.keyword == "PLAN":
            plans.append(_unescape(body))
        elif segment.keyword == "APICALL":
            try:
                call, makes_up = _call(body)
            except ValueError as error:
                return _refused(text, plans, f"APICALL {len(calls) + 1} cannot be read: {error}")
            calls.append(call)
            end = segment.end
            if makes_up:
                end = segment.start + len(body) - len(makes_up)
                break
        elif segment.keyword == "SPEAK":
            if calls:
                break
            if not body:
                return _refused(text, plans, "SPEAK has no text")
            step = Step(text=text, plan="\n".join(plans), reply=_unescape(body))
            return Reading(step, segment.end)
        elif _RETURN.search(body):
            break
    if not calls:
        return _refused(text, plans, "there is neither an APICALL nor a SPEAK")
    return Reading(Step(text=text, plan="\n".join(plans), calls=tuple(calls)), end)


def parse_last(text: str) -> Step:
    """The step of an output that has to be a reply: leniently, whatever in it can be said.

    Calls are ignored. Text outside of a command counts, and so does a SPEAK that is not where it
    should be; a plan stays private. The step has no reply where the output holds nothing of that.
    """
    plans: list[str] = []
    spoken: list[str] = []
    for segment in _segments(text):
        if segment.keyword == "SPEAK" and segment.body:
            spoken = [_unescape(segment.body)]
            break
        misplaced = _MISPLACED_SPEAK.split(segment.body, maxsplit=1)
        if segment.keyword == "PLAN":
            plans.append(_unescape(misplaced[0].strip()))
            spoken += misplaced[1:]
        elif segment.keyword is None and not segment.body.startswith(("{", RETURN)):
            spoken.append(misplaced[-1])
    said = [part for part in map(str.strip, spoken) if part]
    return Step(text=text, plan="\n".join(plans), reply="\n".join(said) or None)


def _segments(text: str) -> Iterator[_Segment]:
    start = 0
    for boundary in _BOUNDARY.finditer(text):
        yield _segment(text[start : boundary.start()], start, boundary.end())
        start = boundary.end()
    yield _segment(text[start:], start, len(text))


def _segment(text: str, start: int, end: int) -> _Segment:
    command = _COMMAND.match(text)
    if command is None:
        return _Segment(None, text.strip(), start, end)
    body = command.group(2).lstrip()
    return _Segment(command.group(1), body.rstrip(), start + len(text) - len(body), end)


def _call(body: str) -> tuple[ToolCall, str]:
    """The call, and what its author made up as its return."""
    read, rest = leading_object(body)
    if rest.strip() and not rest.lstrip().startswith(RETURN):
        raise ValueError(f"more follows the JSON object: {' '.join(rest.split())[:40]!r}")
    name, parameters = read.get("name"), read.get("parameters")
    if not isinstance(name, str):
        raise ValueError('"name" must be a string')
    if not isinstance(parameters, dict):
        raise ValueError('"parameters" must be an object')
    return ToolCall(name=name, arguments=parameters), rest


def _refused(text: str, plans: list[str], cause: str) -> Reading:
    result = ToolResult(value=None, error=f"Nothing was done: {cause}; {_HOW_TO}")
    return Reading(Step(text=text, plan="\n".join(plans), results=(result,)), len(text))


def _plan(plan: str) -> str:
    return f"PLAN {_escape(plan)} {MARK} " if plan.strip() else ""


def _escape(text: str) -> str:
    return text.strip().replace(MARK, f"\\{MARK}")


def _unescape(text: str) -> str:
    return text.replace(f"\\{MARK}", MARK)
