"""Users' Python functions as tools: the states behind them, and their forks."""

import textwrap

import pytest
from environment.own_tools import NOTEPAD, TIMEOUT_S, call, result_of, task_of
from hypothesis import given, settings
from hypothesis import strategies as st

from drl.environment.functions import FunctionsEnvironment
from drl.errors import ConfigError, DataError


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
@settings(max_examples=40)
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
