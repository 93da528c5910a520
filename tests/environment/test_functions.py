"""Users' Python functions as tools: schemas, states, and everything a function can do wrong."""

import asyncio
import json
import textwrap
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drl.domains.own.world import Check, OwnWorld
from drl.environment._own_goals import CheckError
from drl.environment.functions import FunctionsEnvironment, FunctionsSession
from drl.errors import ConfigError, DataError
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


@pytest.fixture
def tools(tmp_path):
    """Writes a module of tools and gives an environment over it."""

    def build(code: str, **changes: Any) -> FunctionsEnvironment:
        path = tmp_path / "own_tools.py"
        path.write_text(textwrap.dedent(code))
        chosen = {"timeout_s": TIMEOUT_S, "compare_texts": "loose"}
        return FunctionsEnvironment(tools=str(path), **chosen | changes)

    return build


def task_of(*goals: Goal, state: Any = None, checks: Mapping[str, Check] | None = None) -> Task:
    world = OwnWorld(where="tasks.jsonl:1", state=state, checks=checks or {})
    return Task("one", "test", Brief(("Do it.",)), goals, world)


def call(session: FunctionsSession, name: str, **arguments: Any) -> ToolResult:
    return asyncio.run(session.call(ToolCall(name, arguments)))


def result_of(environment: FunctionsEnvironment, name: str, **arguments: Any) -> ToolResult:
    return call(environment.open(task_of()), name, **arguments)


# schemas


def test_type_hints_and_docstring_become_the_schema(tools):
    environment = tools('''
        from typing import Annotated, Literal

        def order(
            state: dict,
            tea: Literal["mint", "black"],
            cups: Annotated[int, "how many"] = 1,
            note: str | None = None,
        ) -> str:
            """Orders tea.

            It is brewed at once.

            Args:
                tea: the kind
                    of tea
                cups: not said, for the hint says it
            """
            return "ok"
    ''')
    toolbox = environment.open(task_of()).toolbox
    assert toolbox.specs[0].to_openai()["function"] == {
        "name": "order",
        "description": "Orders tea.",
        "parameters": {
            "type": "object",
            "additionalProperties": False,
            "required": ["tea"],
            "properties": {
                "tea": {
                    "type": "string",
                    "enum": ["mint", "black"],
                    "description": "the kind of tea",
                },
                "cups": {"type": "integer", "default": 1, "description": "how many"},
                "note": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
            },
        },
    }
    assert toolbox.values == {"order": {"tea": ("mint", "black")}}


def test_parameters_may_bear_any_name_and_any_type_that_pydantic_knows(tools):
    environment = tools('''
        from __future__ import annotations
        from dataclasses import dataclass
        from datetime import date

        @dataclass
        class Guest:
            name: str

        def invite(copy: Guest, schema: date, model_config: list[int]) -> str:
            """Invites."""
            return f"{copy.name} {schema.year} {sum(model_config)}"
    ''')
    said = {"copy": {"name": "Ada"}, "schema": "2024-05-01", "model_config": ["1", 2]}
    assert result_of(environment, "invite", **said).value == "Ada 2024 3"


def test_only_public_functions_of_the_module_are_tools(tools):
    environment = tools('''
        from json import dumps

        def shown() -> str:
            """Is a tool."""
            return _hidden()

        def _hidden():
            return "x"

        def initial_state(task_state):
            return {}
    ''')
    assert [spec.name for spec in environment.open(task_of()).toolbox.specs] == ["shown"]


def test_all_names_the_tools_where_it_is_there(tools):
    environment = tools('''
        __all__ = ["chosen"]

        def chosen() -> str:
            """Is a tool."""
            return "x"

        def helper(x):
            return x
    ''')
    assert [spec.name for spec in environment.open(task_of()).toolbox.specs] == ["chosen"]


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("def f(x: int): ...", r"f cannot be a tool: it has no docstring"),
        ('def f(x):\n "F."', r"its parameter x has no type hint"),
        ('def f(*x: int):\n "F."', r"it takes \*x, but a tool names all its parameters"),
        ('def f(x: int, /):\n "F."', r"its parameter x cannot be given by name"),
        ('def f(x: int, state: dict):\n "F."', r"its parameter state does not come first"),
        ('def f(x: "Unknown"):\n "F."', r"have no JSON schema: name 'Unknown' is not defined"),
        ('import threading\ndef f(x: threading.Lock):\n "F."', r"have no JSON schema"),
        ('def größe():\n "F."', r"tool größe has a name that models cannot call"),
        ('__all__ = ["x"]\nx = 1', r"__all__ names x, which is no function"),
        ("x = 1", r"offers no tool"),
        ("import nothing_here", r"cannot be imported: ModuleNotFoundError.*\(own_tools\.py:1\)"),
        ('READ_ONLY = ("g",)\ndef f():\n "F."', r"READ_ONLY names g, which is no tool; tools: f"),
        ('READ_ONLY = "f"\ndef f():\n "F."', r"READ_ONLY must be a tuple of names"),
        ('def initial_state(): ...\ndef f():\n "F."', r"must be a plain function of the task's"),
    ],
)
def test_a_module_that_cannot_serve_is_refused(tools, code, message):
    with pytest.raises(ConfigError, match=r"environment\.tools=.*" + message):
        tools(code).open(task_of())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tools": "gone.py"}, r"environment\.tools=gone\.py is no file"),
        ({"timeout_s": 0.0}, r"environment\.timeout_s=0\.0 must be positive"),
    ],
)
def test_settings_are_checked_at_once(settings, message):
    chosen = {"tools": "json", "timeout_s": 1.0, "compare_texts": "loose"}
    with pytest.raises(ConfigError, match=message):
        FunctionsEnvironment(**chosen | settings)


# calls


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


# states


def test_the_state_begins_as_the_task_says_and_every_session_has_its_own(tools):
    environment = tools(NOTEPAD)
    task = task_of(state={"lines": ["begun"]})
    first, second = environment.open(task), environment.open(task)
    call(first, "write", line="more")
    assert call(first, "read").value == ["begun", "more"]
    assert call(second, "read").value == ["begun"]
    assert task.world.state == {"lines": ["begun"]}  # type: ignore[attr-defined]


def test_initial_state_may_make_any_object_of_the_task_s_state(tools):
    environment = tools('''
        class Shop:
            def __init__(self, stock):
                self.stock = stock

        def initial_state(task_state):
            return Shop(dict(task_state or {"tea": 1}))

        def take(state, what: str) -> int:
            """Takes one."""
            state.stock[what] -= 1
            return state.stock[what]
    ''')
    session = environment.open(task_of(state={"tea": 3}))
    before = session.digest()
    assert call(session, "take", what="tea").value == 2
    assert session.digest() != before
    assert call(environment.open(task_of()), "take", what="tea").value == 0
    assert environment.open(task_of(state={"tea": 3})).digest() == before


@pytest.mark.parametrize(
    ("made", "message"),
    [
        ("1 / 0", r"tasks\.jsonl:1: initial_state of .* refuses the task's state: ZeroDivisionErr"),
        ("__import__('threading').Lock()", r"tasks\.jsonl:1: the state that .* cannot be copied"),
    ],
)
def test_a_state_that_cannot_be_made_or_copied_is_refused_at_once(tools, made, message):
    code = f'def initial_state(given):\n return {made}\ndef f(state):\n "F."'
    with pytest.raises(DataError, match=message):
        tools(code).open(task_of())


def test_equal_states_have_equal_digests_whatever_way_led_there(tools):
    environment = tools('''
        def put(state, key: str, value: float) -> None:
            """Puts."""
            state[key] = value
    ''')
    first, second = environment.open(task_of()), environment.open(task_of())
    for session, keys in ((first, "ab"), (second, "ba")):
        for key in keys:
            call(session, "put", key=key, value=1)
    assert first.digest() == second.digest()


def test_a_fork_copies_nothing_and_reading_needs_no_copy(tools):
    environment = tools('''
        class Precious:
            copies = 0

            def __deepcopy__(self, memo):
                type(self).copies += 1
                return type(self)()

        def initial_state(task_state):
            return {"precious": Precious()}

        def look(state) -> int:
            """Looks, and says how often the state was copied."""
            return state["precious"].copies

        def touch(state) -> int:
            """Might write."""
            return state["precious"].copies

        READ_ONLY = ("look",)
    ''')
    session = environment.open(task_of())
    at_first = call(session, "look").value
    forks = [session.fork() for _ in range(100)]
    assert call(forks[0], "look").value == at_first
    assert call(forks[1], "touch").value == at_first + 1
    assert call(forks[2], "touch").value == at_first + 2


def test_a_function_that_only_pretends_to_read_is_found_out(tools):
    environment = tools(NOTEPAD.replace('("read",)', '("read", "write")'))
    with pytest.raises(ConfigError, match="READ_ONLY names write, but it changes the state"):
        result_of(environment, "write", line="x")


_MOVES = st.lists(
    st.tuples(
        st.sampled_from(["write", "read", "tear", "fork"]), st.integers(0, 9), st.integers(0, 9)
    ),
    max_size=30,
)


@given(moves=_MOVES)
@settings(max_examples=40, deadline=None)
def test_siblings_never_see_each_other_s_writes(moves):
    """Every session holds exactly the lines that were written on its own way from the root."""
    environment = FunctionsEnvironment(
        tools="environment_notepad.py", timeout_s=TIMEOUT_S, compare_texts="loose"
    )
    sessions = [(environment.open(task_of(state={"lines": []})), [])]
    for kind, who, number in moves:
        session, lines = sessions[who % len(sessions)]
        if kind == "fork":
            sessions.append((session.fork(), list(lines)))
        elif kind == "write":
            lines.append(str(number))
            assert call(session, "write", line=str(number)).value == len(lines)
        elif kind == "tear":
            assert call(session, "tear", line="x").error
        else:
            assert call(session, "read").value == lines
    for session, lines in sessions:
        assert call(session, "read").value == lines


@pytest.fixture(autouse=True)
def notepad_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "environment_notepad.py").write_text(textwrap.dedent(NOTEPAD))


# goals


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


def test_an_exception_that_cannot_say_its_name_is_told_at_once(tools):
    code = (
        "class Shy(Exception):\n def __str__(self):\n  raise ValueError\n\n"
        'def f(state):\n "F."\n raise Shy\n'
    )
    said = call(tools(code).open(task_of()), "f")
    assert said.error is not None
    assert "Shy: (its message cannot be read)" in said.error
