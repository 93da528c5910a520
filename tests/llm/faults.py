"""What can go wrong in a conversation with a server, by name and by plan."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random

Json = dict
FaultOf = Callable[[str, int], str | None]
"""From the content of a request and the number of the attempt, from 1, to the name of a fault."""

HUGE = "0123456789abcdef" * 131072  # 2 MB


@dataclass(frozen=True)
class Fault:
    """What goes wrong: a status and body instead of an answer, a body cut off, or silence."""

    status: int = 200
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    hangs: bool = False
    cuts: bool = False
    change: Callable[[Json], None] | None = None
    """Changes the answer, which then counts as one."""


def _wrong_tool(answer: Json) -> None:
    call = {"id": "call_x", "type": "function", "function": {"name": "no such", "arguments": "{"}}
    for choice in answer["choices"]:
        choice["message"] = {"role": "assistant", "content": None, "tool_calls": [call]}
        choice["finish_reason"] = "tool_calls"


def _huge(answer: Json) -> None:
    for choice in answer["choices"]:
        choice["message"]["content"] = HUGE


def _error(message: str, kind: str, **more: object) -> bytes:
    return json.dumps({"error": {"message": message, "type": kind, **more}}).encode()


FAULTS: dict[str, Fault] = {
    "429": Fault(429, _error("slow down", "rate_limit"), {"retry-after": "0.02"}),
    "429 ms": Fault(429, _error("slow down", "rate_limit"), {"retry-after-ms": "20"}),
    "429 bare": Fault(429, _error("slow down", "rate_limit")),
    "429 hour": Fault(429, _error("slow down", "rate_limit"), {"retry-after": "3600"}),
    "500": Fault(500, _error("it broke", "server_error")),
    "502": Fault(502, b"<html><body>Bad gateway</body></html>", {"content-type": "text/html"}),
    "hang": Fault(hangs=True),
    "cut": Fault(cuts=True),
    "malformed": Fault(body=b'{"choices": [{"index": 0, "mess'),
    "empty": Fault(body=b'{"id": "x", "choices": [], "usage": {}}'),
    "nothing": Fault(body=b""),
    "array": Fault(body=b"[1, 2, 3]"),
    "deep": Fault(body=b"[" * 100_000),
    "wrong_tool": Fault(change=_wrong_tool),
    "huge": Fault(change=_huge),
}


def by_rate(rates: Mapping[str, float], seed: int = 0) -> FaultOf:
    """Faults drawn per (request, attempt)."""

    def draw(content: str, attempt: int) -> str | None:
        chance = Random(f"{seed} {content} {attempt}").random()
        for name, rate in rates.items():
            chance -= rate
            if chance < 0:
                return name
        return None

    return draw


def in_turn(*names: str | None) -> FaultOf:
    """The first attempt of every request meets the first fault, and so on; then all is well."""
    return lambda content, attempt: names[attempt - 1] if attempt <= len(names) else None


def never(content: str, attempt: int) -> None:
    """All is always well."""
