"""Calls of a turn carried out in a session, for the first time or once more."""

from collections.abc import Iterable

from pydantic_core import from_json, to_json

from drl.environment.base import Session
from drl.errors import DataError
from drl.types import Role, ToolCall, ToolResult, Turn


async def carry_out(session: Session, calls: Iterable[ToolCall]) -> tuple[ToolResult, ...]:
    """What the calls gave, up to one after which the dialogue is over."""
    results: list[ToolResult] = []
    for call in calls:
        results.append(await session.call(call))
        if results[-1].ends:
            break
    return tuple(results)


async def carry_out_again(session: Session, turn: Turn, where: str) -> None:
    """Bring a session to where it was after a stored turn.

    Raises:
        DataError: a call gives another result than is stored.
    """
    call_by = session.call_by_user if turn.role is Role.USER else session.call
    for _, _, call, stored in turn.executed():
        result = await call_by(call)
        # as JSON, since what is stored went through it
        if from_json(to_json(result)) != from_json(to_json(stored)):
            raise DataError(
                f"{where}: {call.name} gives another result than is stored, so what happened "
                "there cannot be made again: its data or code has changed, or it draws at random"
            )
