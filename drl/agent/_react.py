"""The text in which agents act: a private plan, then tool calls or a reply.

    PLAN <text> <COMMAND_END> APICALL {"name": ..., "parameters": {...}} <COMMAND_END>
    PLAN <text> <COMMAND_END> SPEAK <text> <COMMAND_END>

A command counts only at the start of the output or right after <COMMAND_END>, so the keywords may
occur in any text. Where a text itself holds the marker, `render_*` puts a backslash before it and
`parse` takes it away again. Reading never raises: an output that cannot be carried out becomes a
step without calls and reply whose one result is the error to hand back to whoever wrote it.
"""

import json
import re
from collections.abc import Mapping
from math import isfinite

from drl.types import JSON, Step, ToolCall, ToolResult

MARK = "<COMMAND_END>"

_JSON_MARK = "\\u003cCOMMAND_END>"  # the marker inside a JSON string, where it closes nothing
_BOUNDARY = re.compile(r"(?<!\\)<COMMAND_END>")
_COMMAND = re.compile(r"(PLAN|APICALL|SPEAK)(?!\w)(.*)", re.DOTALL)
_HOW_TO = (
    f"write PLAN <text> {MARK} and then APICALL <one JSON object> {MARK} or SPEAK <text> {MARK}"
)


def render_call(plan: str, call: ToolCall) -> str:
    """The output of an agent that plans and calls a tool."""
    body = json.dumps(
        {"name": call.name, "parameters": dict(call.arguments)}, ensure_ascii=False, allow_nan=False
    ).replace(MARK, _JSON_MARK)
    return f"{_plan(plan)}APICALL {body} {MARK}"


def render_reply(plan: str, text: str) -> str:
    """The output of an agent that plans and speaks; white space around the text is dropped."""
    return f"{_plan(plan)}SPEAK {_escape(text)} {MARK}"


def parse(text: str) -> Step:
    """The step that an output stands for.

    Several calls are all kept, in order; a SPEAK ends the output. One call that is malformed
    refuses the whole output, so that nothing runs that its author did not see fail or succeed.
    """
    plans: list[str] = []
    calls: list[ToolCall] = []
    reply: str | None = None
    for segment in _BOUNDARY.split(text):
        command = _COMMAND.match(segment.strip())
        if command is None:
            continue
        keyword, body = command.group(1), command.group(2).strip()
        if keyword == "PLAN":
            plans.append(_unescape(body))
        elif keyword == "APICALL":
            try:
                calls.append(_call(body))
            except (ValueError, RecursionError) as error:
                return _refused(text, plans, f"APICALL {len(calls) + 1} cannot be read: {error}")
        elif not body:
            return _refused(text, plans, "SPEAK has no text")
        else:
            reply = _unescape(body)
            break
    if not calls and reply is None:
        return _refused(text, plans, "there is neither an APICALL nor a SPEAK")
    return Step(text=text, plan="\n".join(plans), calls=tuple(calls), reply=reply)


def _call(body: str) -> ToolCall:
    read = json.loads(body, parse_constant=_no_number, parse_float=_finite)
    if not isinstance(read, dict):
        raise ValueError("it must be one JSON object")
    name, parameters = read.get("name"), read.get("parameters")
    if not isinstance(name, str):
        raise ValueError('"name" must be a string')
    if not isinstance(parameters, dict):
        raise ValueError('"parameters" must be an object')
    arguments: Mapping[str, JSON] = parameters
    # Half a surrogate pair is legal in JSON but is no text: nothing could store it.
    json.dumps(read, ensure_ascii=False).encode()
    return ToolCall(name=name, arguments=arguments)


def _no_number(constant: str) -> float:
    raise ValueError(f"{constant} is not a JSON value")


def _finite(digits: str) -> float:
    number = float(digits)
    if not isfinite(number):
        raise ValueError(f"{digits[:20]} is too large")
    return number


def _refused(text: str, plans: list[str], cause: str) -> Step:
    result = ToolResult(value=None, error=f"Nothing was done: {cause}; {_HOW_TO}")
    return Step(text=text, plan="\n".join(plans), results=(result,))


def _plan(plan: str) -> str:
    return f"PLAN {_escape(plan)} {MARK} " if plan.strip() else ""


def _escape(text: str) -> str:
    return text.strip().replace(MARK, f"\\{MARK}")


def _unescape(text: str) -> str:
    return text.replace(f"\\{MARK}", MARK)
