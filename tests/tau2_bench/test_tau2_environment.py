"""Sessions: tools of both sides, kept in step, and forks that share until somebody writes."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tau2_bench.playing import call, copies, user_call

from drl.environment.tau2 import Tau2Environment, Tau2Session
from drl.errors import DataError
from drl.types import Goal, ToolCall, ToolResult

MOVES = [
    (True, ToolCall("activate", {"reason": "silence"})),
    (True, ToolCall("look_up", {})),
    (True, ToolCall("no_such_tool", {})),
    (False, ToolCall("press_power", {})),
    (False, ToolCall("set_volume", {"volume": 3})),
    (False, ToolCall("set_volume", {"volume": 99})),
    (False, ToolCall("pay", {})),
    (False, ToolCall("listen", {})),
]


def test_each_side_has_its_own_tools_and_the_agent_a_policy(environment, task):
    session = environment.open(task("hard"))
    assert [spec.name for spec in session.toolbox.specs] == ["activate", "look_up"]
    assert session.toolbox.policy.startswith("Activate a subscription once its bill is paid.")
    assert session.user_toolbox is not None
    names = [spec.name for spec in session.user_toolbox.specs]
    assert names == ["listen", "pay", "press_power", "set_volume"]
    (volume,) = [spec for spec in session.user_toolbox.specs if spec.name == "set_volume"]
    assert volume.description == "Turns the volume to a number from 0 to 10."
    assert volume.parameters["required"] == ["volume"]


def test_a_task_may_leave_the_customer_some_of_its_tools_or_none(environment, task):
    some = environment.open(task("easy")).user_toolbox
    assert some is not None
    assert [spec.name for spec in some.specs] == ["listen", "press_power"]
    assert environment.open(task("collect")).user_toolbox is None


def test_what_one_side_does_reaches_the_other(environment, task):
    session = environment.open(task("hard"))
    refused = call(session, "activate", reason="asked")
    assert refused == ToolResult(
        "Error: Subscription is unpaid", error="Error: Subscription is unpaid"
    )
    assert user_call(session, "pay") == ToolResult("Paid")
    assert call(session, "activate", reason="paid").value == "Subscription is active"
    user_call(session, "press_power")
    user_call(session, "set_volume", volume=8)
    assert user_call(session, "listen").value == "music"


def test_tools_of_the_other_side_cannot_be_called(environment, task):
    session = environment.open(task("hard"))
    assert call(session, "pay").error == "Error: Tool 'pay' not found."
    assert user_call(session, "activate", reason="x").error == "Error: Tool 'activate' not found."
    counter = environment.open(task("collect"))
    assert user_call(counter, "find_parcel", number="P1").error


def test_a_transfer_does_not_end_the_dialogue(environment, task):
    result = call(environment.open(task("collect")), "transfer_to_human_agents", summary="help")
    assert result == ToolResult("Transfer successful")
    assert not result.ends


def test_a_task_begins_as_it_says(environment, task):
    # data: volume 4; so that pressing the button and activating is enough to hear something
    session = environment.open(task("easy"))
    user_call(session, "press_power")
    call(session, "activate", reason="silence")
    assert user_call(session, "listen").value == "music"
    # a dialogue so far: parcel P3 for Dan was accepted in it
    assert "Dan" in str(call(environment.open(task("resume")), "find_parcel", number="P3").value)


def test_a_beginning_that_cannot_be_is_refused(environment, task):
    with pytest.raises(DataError, match=r"task stale of tau2 mock cannot begin.*P7"):
        environment.open(task("stale"))


def test_forks_copy_nothing_until_one_writes(environment, task):
    session = environment.open(task("hard"))
    before = copies()
    forks = [session.fork() for _ in range(20)]
    for fork in forks:
        user_call(fork, "listen")
        call(fork, "look_up")
        call(fork, "no_such_tool")
        assert fork.digest() == session.digest()
    assert copies() == before
    user_call(forks[0], "press_power")
    user_call(forks[0], "press_power")
    user_call(forks[0], "press_power")
    assert copies() == before + 2  # one environment, which is two toolkits
    assert forks[1].digest() == session.digest() != forks[0].digest()


def test_whoever_is_left_alone_copies_nothing(environment, task):
    session = environment.open(task("hard"))
    fork = session.fork()
    before = copies()
    del session
    user_call(fork, "press_power")
    assert copies() == before


def test_a_call_that_failed_halfway_is_seen_by_nobody_else(environment, task):
    # activate notes the reason before it refuses, and the sides are not brought into step
    session = environment.open(task("hard"))
    start = session.digest()
    fork = session.fork()
    assert call(fork, "activate", reason="first").error
    assert session.digest() == start != fork.digest()
    other = fork.fork()
    user_call(other, "listen")
    assert other.digest() == fork.digest()


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.booleans(), st.integers(0, 30), st.integers(0, len(MOVES) - 1)), max_size=25
    )
)
def test_siblings_never_see_each_others_writes(hard, script):
    """A tree of sessions, forked and called at random, against each one's calls made afresh."""
    world = Tau2Environment()
    sessions: list[tuple[Tau2Session, list[int]]] = [(world.open(hard), [])]
    for forks, which, move in script:
        session, done = sessions[which % len(sessions)]
        if forks:
            sessions.append((session.fork(), [*done]))
        else:
            make(session, move)
            done.append(move)
    for session, done in sessions:
        alone = world.open(hard)
        for move in done:
            make(alone, move)
        assert session.digest() == alone.digest()
        assert user_call(session, "listen") == user_call(alone, "listen")
        assert call(session, "look_up") == call(alone, "look_up")


@pytest.fixture(scope="module")
def hard(task):
    return task("hard")


def make(session: Tau2Session, move: int) -> None:
    by_agent, asked = MOVES[move]
    asyncio.run(session.call(asked) if by_agent else session.call_by_user(asked))


def test_an_action_counts_once_it_is_carried_out_with_the_arguments_that_are_compared(environment):
    some = Goal("hand_out", "mock", {"number": "P1", "note": ""}, {"compare_args": ["number"]})
    exact = Goal("hand_out", "mock", {"number": "P1", "note": ""}, {"compare_args": None})
    noted = ToolCall("hand_out", {"number": "P1", "note": "hurry"})
    done, refused = ToolResult("ok"), ToolResult("Error: no", error="Error: no")
    assert environment.achieves(some, noted, done, [])
    assert not environment.achieves(exact, noted, done, [])
    assert not environment.achieves(some, noted, refused, [])
    assert not environment.achieves(some, ToolCall("hand_out", {"number": "P2"}), done, [])
    assert not environment.achieves(some, ToolCall("accept", {"number": "P1"}), done, [])


def test_a_cause_names_no_data(environment, task):
    goal = Goal("hand_out", "mock", {"number": "P2"})
    said = ToolResult("x", error="Error: Parcel P2 is 'sent back'")
    assert environment.explain(task("ask"), goal, said) == "hand_out: Parcel … is …"
