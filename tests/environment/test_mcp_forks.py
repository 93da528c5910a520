"""Tools of a real MCP server on stdio: calls, and sessions that fork."""

import asyncio

import pytest
from environment.mcp_bikes import (
    bikes,
    free,
    num_servers,
    rent,
)
from environment.own_tools import call, task_of

from drl.environment._mcp_desk import RepetitionError
from drl.errors import ConfigError
from drl.types import ToolCall, ToolResult


def test_tools_are_those_of_the_server_but_for_the_one_that_sets_it_up():
    toolbox = bikes().open(task_of()).toolbox
    names = [spec.name for spec in toolbox.specs]
    assert "rent_bike" in names
    assert "begin" not in names
    assert toolbox.specs[0].description == "The desk's find_bikes."
    assert toolbox.values["find_bikes"]["day"] == ("friday", "saturday", "sunday")


def test_calls_are_coerced_and_wrong_ones_never_reach_the_server():
    rentals = [{"number": 3, "bike": "Ferry", "day": "friday", "name": "Lind"}]
    session = bikes().open(task_of(state={"rentals": rentals}))
    start = session.digest()
    wrong = call(session, "change_day", rental=3, when="sunday")
    assert wrong.error == (
        "there is no parameter when, day is missing; change_day takes rental (integer), "
        "day (one of friday, saturday, sunday)"
    )
    assert session.digest() == start
    moved = call(session, "change_day", rental="3", day="sunday").value
    assert moved == {"number": 3, "bike": "Ferry", "day": "sunday", "name": "Lind"}


@pytest.mark.parametrize(
    ("how", "value", "error"),
    [
        ("object", {"free": [1, 2]}, None),
        ("words", "two words", None),
        ("wrapped", [1], None),
        ("garbage", "two words", None),
        ("picture", None, "it returned image, which is neither JSON nor text"),
        ("silent error", None, "the tool failed and does not say why"),
        ("malformed", None, "its answer cannot be read"),
        ("no such thing", None, "no method"),
    ],
)
def test_what_a_server_answers_is_json_or_an_error(how, value, error):
    result = call(bikes().open(task_of()), "misbehave", how=how)
    if error is None:
        assert result == ToolResult(value)
    else:
        assert result.error is not None
        assert result.error.startswith(error)


def test_what_a_tool_refuses_is_told_to_the_agent():
    session = bikes().open(task_of())
    rent(session, "Bollard")
    assert rent(session, "Bollard").error == "Bollard is not free on friday"


def test_siblings_never_see_each_other_s_writes():
    session = bikes().open(task_of())
    rent(session, "Ferry")
    left, right = session.fork(), session.fork()
    rent(left, "Bollard")
    rent(right, "Cormorant")
    assert free(left) == ["Cormorant"]
    assert free(right) == ["Bollard"]
    assert free(session) == ["Bollard", "Cormorant"]
    assert rent(right, "Ferry").error


def test_who_calls_first_after_a_fork_goes_on_with_the_server_at_hand():
    environment = bikes()
    session = environment.open(task_of())
    rent(session, "Bollard")
    forks = [session.fork() for _ in range(5)]
    assert num_servers(environment) == 1
    rent(forks[3], "Cormorant")
    assert num_servers(environment) == 1
    rent(forks[0], "Ferry")
    assert num_servers(environment) == 2


def test_a_server_that_answers_differently_when_repeated_is_found_out():
    session = bikes().open(task_of())
    call(session, "misbehave", how="dice")
    fork = session.fork()
    rent(session, "Ferry")
    with pytest.raises(RepetitionError, match=r"answered misbehave differently.*on_fork=refuse"):
        rent(fork, "Ferry")


def test_more_branches_than_servers_take_turns():
    environment = bikes(max_servers=1)
    first, second = environment.open(task_of()), environment.open(task_of())
    for _ in range(2):
        assert call(first, "find_bikes", kind="tandem", day="friday").error is None
        rent(second, "Bollard")
    assert free(first) == ["Bollard", "Cormorant"]
    assert free(second) == ["Cormorant"]
    assert num_servers(environment) == 1


def test_many_calls_at_once_all_get_their_own_server():
    environment = bikes(max_servers=2)

    async def race() -> list[ToolResult]:
        made = ToolCall("rent_bike", {"bike": "Ferry", "day": "friday", "name": "Lind"})
        sessions = [environment.open(task_of()) for _ in range(6)]
        return await asyncio.gather(*(session.call(made) for session in sessions))

    assert [result.error for result in asyncio.run(race())] == [None] * 6


def test_shared_sessions_see_one_server():
    environment = bikes(on_fork="share", setup_tool=None)
    session = environment.open(task_of())
    fork = session.fork()
    rent(fork, "Bollard")
    assert free(session) == ["Cormorant"]
    assert num_servers(environment) == 1


def test_whoever_is_called_away_takes_the_shared_server_from_nobody():
    environment = bikes(on_fork="share", setup_tool=None)
    session, other = environment.open(task_of()), environment.open(task_of())
    rent(other, "Bollard")

    async def leave():
        waiting = asyncio.ensure_future(session.call(ToolCall("misbehave", {"how": "dawdle"})))
        await asyncio.sleep(0.2)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)

    asyncio.run(leave())
    assert free(other) == ["Cormorant"]


def test_refused_forks_say_what_to_do_and_sessions_stay_apart():
    environment = bikes(on_fork="refuse")
    session, other = environment.open(task_of()), environment.open(task_of())
    rent(session, "Bollard")
    assert free(other) == ["Bollard", "Cormorant"]
    with pytest.raises(ConfigError, match=r"on_fork=refuse: a search forks.*rollout=single"):
        session.fork()
