"""Turns of both sides that are really carried out in a session."""

import asyncio
import sys

from drl.environment.tau2 import Tau2Session
from drl.types import JSON, Role, Step, ToolCall, ToolResult, Turn


def call(session: Tau2Session, name: str, **arguments: JSON) -> ToolResult:
    return asyncio.run(session.call(ToolCall(name, arguments)))


def user_call(session: Tau2Session, name: str, **arguments: JSON) -> ToolResult:
    return asyncio.run(session.call_by_user(ToolCall(name, arguments)))


def agent(session: Tau2Session, text: str, *calls: ToolCall) -> Turn:
    """The agent makes calls and then says something."""
    return _turn(Role.AGENT, text, calls, [asyncio.run(session.call(each)) for each in calls])


def user(session: Tau2Session, text: str, *calls: ToolCall, hangs_up: bool = False) -> Turn:
    """The customer makes calls and then says something."""
    results = [asyncio.run(session.call_by_user(each)) for each in calls]
    return _turn(Role.USER, text, calls, results, hangs_up)


def bye(session: Tau2Session) -> Turn:
    return user(session, "###STOP###", hangs_up=True)


def _turn(
    role: Role,
    text: str,
    calls: tuple[ToolCall, ...],
    results: list[ToolResult],
    hangs_up: bool = False,
) -> Turn:
    acted = [Step("", calls=calls, results=tuple(results))] if calls else []
    return Turn(role, text, (*acted, Step(text, reply=text)), hangs_up)


def copies() -> int:
    """How often toolkits of the miniature were copied so far."""
    return sys.modules["tau2.environment.toolkit"].Toolkit.num_copies
