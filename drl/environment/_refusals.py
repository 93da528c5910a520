"""Refusals of tools that begin with "Error: ", as causes that can be counted."""

import re

from drl.types import Goal, ToolResult

_VALUE = re.compile(r"'[^']*'|\S*\d\S*")


def cause_of(goal: Goal, result: ToolResult) -> str:
    """What the tool said against the call of a goal, with … for ids, dates and amounts."""
    if result.error is None:
        return f"{goal.kind} is carried out"
    return f"{goal.kind}: {_VALUE.sub('…', result.error.removeprefix('Error: '))}"
