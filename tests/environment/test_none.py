"""The environment without tools."""

import asyncio

from drl.environment.none import NoneEnvironment
from drl.types import Brief, Goal, Task, ToolCall

TASK = Task("one", "all", Brief((), human_turns=("Once",)), ())


def test_there_is_nothing_to_call_and_nothing_to_change():
    session = NoneEnvironment().open(TASK)
    assert session.toolbox.specs == ()
    for name in ("search", "", "x" * 500):
        result = asyncio.run(session.call(ToolCall(name, {})))
        assert "there is no tool" in str(result.error)
        assert str(result.value) == f"ERROR: {result.error}"
    assert session.digest() == session.fork().digest() == NoneEnvironment().open(TASK).digest()


def test_no_goal_can_be_reached():
    goal, environment = Goal("search", "town", {"area": "north"}), NoneEnvironment()
    call = environment.exact_call(goal)
    result = asyncio.run(environment.open(TASK).call(call))
    assert not environment.achieves(goal, call, result, [goal])
    assert environment.explain(TASK, goal, result)
