"""Tool calls in a model's text, in the two forms that open models are trained to write.

Hermes and Qwen: <tool_call>{"name": ..., "arguments": {...}}</tool_call>, any number, text around.
Llama 3: the whole reply is {"name": ..., "parameters": {...}}, several parted by semicolons.
What is not a call stays text; arguments that are no JSON stay raw, for the agent to answer to.
"""

import json
import re

from drl.llm.base import ToolUse

_HERMES = re.compile(r"<tool_call>\s*(.*?)\s*(?:</tool_call>|\Z)", re.DOTALL)
_NAME = re.compile(r'"name"\s*:\s*"([^"\\]+)"')
_ARGUMENTS = re.compile(r'"(?:arguments|parameters)"\s*:\s*(.*?)\s*\}?\s*\Z', re.DOTALL)


def read_tool_calls(text: str) -> tuple[str, tuple[ToolUse, ...]]:
    """The text without its tool calls, and the calls in order."""
    blocks = [match.group(1) for match in _HERMES.finditer(text)]
    if blocks:
        calls = [_read(block) or _read_broken(block) for block in blocks]
        rest = _HERMES.sub("", text).strip()
    else:
        calls = _read_json(text)
        rest = ""
    if not calls or any(call is None for call in calls):
        return text, ()
    uses = tuple(ToolUse(f"call_{n}", *call) for n, call in enumerate(calls) if call is not None)
    return rest, uses


def _read_json(text: str) -> list[tuple[str, str] | None]:
    """Calls that are all of a text: JSON objects with a name, parted by semicolons."""
    decoder = json.JSONDecoder()
    calls: list[tuple[str, str] | None] = []
    place, rest = 0, text.strip()
    while place < len(rest):
        try:
            _, end = decoder.raw_decode(rest, place)
        except (ValueError, RecursionError):
            return []
        calls.append(_read(rest[place:end]))
        place = end
        while place < len(rest) and rest[place] in "; \n":
            place += 1
    return calls


def _read(block: str) -> tuple[str, str] | None:
    """Name and arguments of a call in JSON; None where it is none."""
    try:
        call = json.loads(block)
    except (ValueError, RecursionError):
        return None
    if not isinstance(call, dict) or not isinstance(call.get("name"), str):
        return None
    arguments = call.get("arguments", call.get("parameters"))
    if arguments is None:
        return None
    raw = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return call["name"], raw


def _read_broken(block: str) -> tuple[str, str] | None:
    """Name and raw arguments of a call that was meant as one but is no JSON."""
    name, arguments = _NAME.search(block), _ARGUMENTS.search(block)
    if name is None:
        return None
    return name.group(1), arguments.group(1) if arguments else block
