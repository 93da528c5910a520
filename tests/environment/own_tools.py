"""A notepad of tools, the tasks around it, and calls on the spot."""

import asyncio
from collections.abc import Mapping
from typing import Any

from drl.domains.own.world import Check, OwnWorld
from drl.environment.base import Session
from drl.environment.functions import FunctionsEnvironment
from drl.types import Brief, Goal, Task, ToolCall, ToolResult

TIMEOUT_S = 5.0
NOTEPAD = '''
    def write(state, line: str) -> int:
        """Writes a line."""
        state.setdefault("lines", []).append(line)
        return len(state["lines"])

    def read(state) -> list[str]:
        """Reads all lines."""
        return state.get("lines", [])

    def tear(state, line: str) -> str:
        """Tears a page out and then fails."""
        state["lines"].clear()
        raise ValueError(f"no line {line}")

    READ_ONLY = ("read",)
'''


def task_of(*goals: Goal, state: Any = None, checks: Mapping[str, Check] | None = None) -> Task:
    world = OwnWorld(where="tasks.jsonl:1", state=state, checks=checks or {})
    return Task("one", "test", Brief(("Do it.",)), goals, world)


def call(session: Session, tool: str, /, **arguments: Any) -> ToolResult:
    return asyncio.run(session.call(ToolCall(tool, arguments)))


def result_of(environment: FunctionsEnvironment, name: str, **arguments: Any) -> ToolResult:
    return call(environment.open(task_of()), name, **arguments)
