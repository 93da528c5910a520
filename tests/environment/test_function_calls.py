"""Users' Python functions as tools: everything that a function can do wrong."""

import asyncio
import json

import pytest
from environment.own_tools import NOTEPAD, call, result_of, task_of

from drl.types import ToolCall, ToolResult


def test_arguments_are_coerced_and_wrong_ones_are_told_with_the_parameters(tools):
    environment = tools('''
        from typing import Literal

        def order(tea: Literal["mint", "black"], cups: int = 1) -> str:
            """Orders."""
            return f"{cups + 1} {tea}"
    ''')
    assert result_of(environment, "order", tea="mint", cups="2") == ToolResult("3 mint")
    wrong = result_of(environment, "order", cups="two", milk=True)
    assert wrong.error == (
        "tea is missing, cups: input should be a valid integer, unable to parse string as an "
        "integer, there is no parameter milk; order takes tea (one of mint, black), "
        "cups (integer, optional)"
    )
    assert wrong.value == f"ERROR: {wrong.error}"
    assert result_of(environment, "brew").error == "there is no tool brew; tools: order"


def test_what_a_tool_raises_is_told_to_the_agent_and_changes_nothing(tools):
    session = tools(NOTEPAD).open(task_of(state={"lines": ["a"]}))
    before = session.digest()
    assert call(session, "tear", line="7").error == "ValueError: no line 7"
    assert session.digest() == before
    assert call(session, "read").value == ["a"]


@pytest.mark.parametrize(
    ("code", "warned"),
    [("raise TypeError('x')", True), ("time.sleep(9)", True), ("raise ValueError('x')", False)],
)
def test_the_author_is_warned_of_what_looks_like_a_mistake(tools, caplog, code, warned):
    environment = tools(f'import time\n\ndef f() -> None:\n "F."\n {code}', timeout_s=0.5)
    assert result_of(environment, "f").error
    assert bool(caplog.records) is warned
    if "TypeError" in code:
        assert caplog.messages == ["tool f: TypeError: x (own_tools.py:5)"]


@pytest.mark.parametrize("stop", ["raise SystemExit(1)", "raise KeyboardInterrupt", "1 / 0"])
def test_no_exception_of_a_tool_stops_the_run(tools, stop):
    code = f'def f():\n "F."\n {stop}\nasync def g():\n "G."\n raise SystemExit(1)'
    assert result_of(tools(code), "f").error
    assert result_of(tools(code), "g").error == "SystemExit: 1"


HANGING = """
    import threading

    let_go, wrote = threading.Event(), threading.Event()

    def hang(state) -> str:
        'Waits, and writes when it is let go.'
        let_go.wait()
        state["late"] = True
        wrote.set()
        return "done"

    def release() -> bool:
        'Lets it go, and waits until it has written.'
        let_go.set()
        return wrote.wait(60)
"""


def test_a_tool_that_hangs_is_an_error_and_what_it_does_later_is_seen_by_nobody(tools):
    session = tools(HANGING, timeout_s=0.05).open(task_of())
    before = session.digest()
    assert call(session, "hang").error == "it did not answer within 0.05 s"
    assert result_of(tools(HANGING, timeout_s=60.0), "release").value is True
    assert session.digest() == before


def test_an_async_tool_is_awaited_and_cancelled_when_it_hangs(tools):
    environment = tools(
        '''
        import asyncio

        async def soon(x: int) -> int:
            """Waits a little."""
            await asyncio.sleep(0)
            return x + 1

        async def never() -> None:
            """Waits for ever."""
            await asyncio.Event().wait()

        async def gives_up() -> None:
            """Cancels itself."""
            raise asyncio.CancelledError
        ''',
        timeout_s=0.05,
    )
    assert result_of(environment, "soon", x=1).value == 2
    assert result_of(environment, "never").error == "it did not answer within 0.05 s"
    assert result_of(environment, "gives_up").error == "CancelledError: it cancelled itself"


def test_results_are_made_json_where_they_can_be(tools):
    environment = tools('''
        from dataclasses import dataclass
        from datetime import date
        from enum import Enum
        from pydantic import BaseModel

        class Kind(Enum):
            MINT = "mint"

        @dataclass
        class Tea:
            kind: Kind
            tags: set[str]

        class Order(BaseModel):
            day: date
            teas: tuple[Tea, ...]

        def order() -> Order:
            """Orders."""
            tea = Tea(Kind.MINT, {"hot", "green", "big"})
            return {1: Order(day=date(2024, 5, 1), teas=(tea,)), Kind.MINT: 2.0}
    ''')
    tea = {"kind": "mint", "tags": ["big", "green", "hot"]}
    expected = {"1": {"day": "2024-05-01", "teas": [tea]}, "mint": 2}
    assert result_of(environment, "order").value == expected


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("object()", "it is of type object"),
        ('{"a": [lambda: 1]}', "a[0] is of type function"),
        ('float("nan")', "it is nan, which JSON does not have"),
        ('{"price": float("inf")}', "price is inf, which JSON does not have"),
        ('"\\ud800"', "it holds half a character"),
        ("iter(int, 1)", "it is of type callable_iterator"),
        ("loop", "it contains itself, or is nested too deeply"),
        ("open(__file__)", "it is of type _io.TextIOWrapper"),
        ('{1: "a", "1": "b"}', "it has two keys that read 1"),
        ("10**5000", "it is a number of more than 332 bits"),
    ],
)
@pytest.mark.filterwarnings("ignore:unclosed file")
def test_what_is_not_json_is_an_error_that_says_so(tools, value, reason):
    code = f'loop = []\nloop.append(loop)\n\ndef f(state):\n "F."\n state["x"] = 1\n return {value}'
    session = tools(code).open(task_of())
    before = session.digest()
    said = call(session, "f")
    assert said.error == f"f returned something that is not JSON: {reason}"
    json.dumps(said.value)
    assert session.digest() == before


def test_a_tool_cannot_change_the_call_that_is_kept(tools):
    environment = tools('''
        from typing import Any

        def eat(food: dict[str, Any]) -> str:
            """Eats."""
            food["plate"].clear()
            return "gone"
    ''')
    made = ToolCall("eat", {"food": {"plate": ["cake"]}})
    asyncio.run(environment.open(task_of()).call(made))
    assert made.arguments == {"food": {"plate": ["cake"]}}


def test_an_exception_that_cannot_say_its_name_is_told_at_once(tools):
    code = (
        "class Shy(Exception):\n def __str__(self):\n  raise ValueError\n\n"
        'def f(state):\n "F."\n raise Shy\n'
    )
    said = call(tools(code).open(task_of()), "f")
    assert said.error is not None
    assert "Shy: (its message cannot be read)" in said.error
