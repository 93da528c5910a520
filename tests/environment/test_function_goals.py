"""Users' Python functions as tools: goals as expected calls and as checks."""

from collections.abc import Callable
from typing import Any

import pytest
from environment.own_tools import NOTEPAD, call, task_of

from drl.domains.own.world import Check
from drl.environment._own_goals import CheckError
from drl.errors import DataError
from drl.types import Goal, Task, ToolCall, ToolResult


def achieved(environment, goal, made, result):
    return environment.achieves(goal, made, result, [goal])


@pytest.mark.parametrize(
    ("compare_texts", "line", "reached"),
    [
        ("loose", "Two  cups", True),
        ("loose", " two cups ", True),
        ("loose", "two mugs", False),
        ("exact", "two cups", True),
        ("exact", "Two cups", False),
    ],
)
def test_a_call_reaches_the_goal_that_says_the_same(tools, compare_texts, line, reached):
    environment = tools(NOTEPAD, compare_texts=compare_texts)
    goal = Goal("write", "pad", {"line": "two cups"})
    made = ToolCall("write", {"line": line})
    assert achieved(environment, goal, made, ToolResult(1)) is reached


def test_defaults_and_types_do_not_tell_calls_apart_but_errors_do(tools):
    environment = tools('''
        def order(tea: str, cups: int = 2) -> None:
            """Orders."""
    ''')
    goal = Goal("order", "tea", {"tea": "mint", "cups": 2})
    made = ToolCall("order", {"tea": "mint", "cups": "2"})
    assert achieved(environment, goal, made, ToolResult(None))
    assert achieved(environment, goal, ToolCall("order", {"tea": "mint"}), ToolResult(None))
    assert not achieved(environment, goal, made, ToolResult(None, error="no water"))
    assert not achieved(environment, goal, ToolCall("order", {"cups": 2}), ToolResult(None))


def with_check(function: Callable[..., object], *sees: str, state: Any = None) -> tuple[Task, Goal]:
    goal = Goal("check", "pad", {"function": "c.py:f"}, {"check": "c.py:f"})
    checks = {"c.py:f": Check("c.py:f", function, sees)}
    return task_of(goal, state=state, checks=checks), goal


def test_a_check_of_the_state_is_reached_by_the_call_that_makes_it_true(tools):
    environment = tools(NOTEPAD)
    task, goal = with_check(lambda state: len(state.get("lines", [])) / 2, "state")
    session = environment.open(task)
    results = [call(session, "write", line="a"), call(session, "write", line="b")]
    made = ToolCall("write", {})
    assert [achieved(environment, goal, made, result) for result in results] == [False, True]
    assert not achieved(environment, goal, made, call(session, "read"))
    assert results[1] == ToolResult(2, fulfilled=("c.py:f",))


def test_a_check_of_the_calls_sees_those_that_were_carried_out(tools):
    environment = tools(NOTEPAD)
    seen = []
    task, _ = with_check(lambda calls: seen.append(calls) or len(calls) == 2, "calls")
    session = environment.open(task)
    call(session, "write", line="a")
    call(session, "tear", line="a")
    assert call(session, "read").fulfilled == ("c.py:f",)
    assert seen[-1] == [
        {"name": "write", "arguments": {"line": "a"}, "value": 1},
        {"name": "read", "arguments": {}, "value": ["a"]},
    ]


def test_what_a_check_changes_is_nobody_s(tools):
    environment = tools(NOTEPAD)
    task, _ = with_check(lambda state: state.clear() or False, "state", state={"lines": ["a"]})
    session = environment.open(task)
    call(session, "write", line="b")
    assert call(session, "read").value == ["a", "b"]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda state: 1 / len(state), r"check c\.py:f: ZeroDivisionError"),
        (lambda state: "yes", r"check c\.py:f said 'yes'; it must say True, False or a number"),
        (lambda state: 1.5, r"check c\.py:f said 1\.5"),
        (lambda state: None, r"check c\.py:f said None"),
    ],
)
def test_a_check_that_breaks_breaks_the_dialogue(tools, function, message):
    code = 'def empty(state) -> None:\n "Empties."\n state.clear()'
    fine_at_first = lambda state: False if state else function(state)  # noqa: E731
    task, _ = with_check(fine_at_first, "state", state={"x": 1})
    session = tools(code).open(task)
    with pytest.raises(CheckError, match=message):
        call(session, "empty")


@pytest.mark.parametrize(
    ("goal", "message"),
    [
        (Goal("wipe", "", {}), r"goals\.0: there is no tool wipe; tools: write, read, tear"),
        (Goal("write", "", {}), r"goals\.0: line is missing; write takes line \(string\)"),
        (Goal("write", "", {}, {"check": "c.py:f"}), r"goals\.0: line is missing"),
    ],
)
def test_a_goal_that_no_call_reaches_is_refused_before_anything_starts(tools, goal, message):
    checks = {"c.py:f": Check("c.py:f", lambda state: False, ("state",))}
    with pytest.raises(DataError, match=r"tasks\.jsonl:1: " + message):
        tools(NOTEPAD).open(task_of(goal, checks=checks))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda state: True, r"goals\.0: check c\.py:f holds before any call, so it says nothing"),
        (lambda state: state["x"], r"check c\.py:f, before any call: KeyError: 'x' \(test_functio"),
    ],
)
def test_a_check_that_says_nothing_or_cannot_be_asked_is_refused(tools, function, message):
    task, _ = with_check(function, "state")
    with pytest.raises(DataError, match=message):
        tools(NOTEPAD).open(task)


def test_why_a_goal_is_missed_is_told_in_the_tool_s_own_words(tools):
    environment = tools(NOTEPAD)
    task, goal = with_check(lambda state: False, "state")
    refused = ToolResult("x", error="ValueError: no line")
    assert "names no example" in environment.explain(task, goal, ToolResult(None))
    call_goal = Goal("tear", "", {"line": "x"})
    assert environment.explain(task, call_goal, refused).endswith("ValueError: no line")


def test_another_content_is_another_version(tools):
    before = tools(NOTEPAD).version
    assert tools(NOTEPAD).version == before
    assert tools(NOTEPAD + "\n").version != before
