"""Tools of a real MCP server on stdio: forks, faults, and what becomes of the servers."""

import asyncio
import os
import shlex
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from drl.domains.own.world import Check, OwnWorld
from drl.environment._mcp_connection import NoAnswerError, ServerDownError
from drl.environment._mcp_desk import RepetitionError
from drl.environment.mcp import McpEnvironment, McpSession
from drl.errors import ConfigError, DataError
from drl.types import Brief, Goal, Task, ToolCall, ToolResult

HERE = Path(__file__).parent
EXAMPLE = HERE.parents[1] / "examples" / "own_environment" / "server.py"


def command(script: Path | str, *arguments: str) -> str:
    return shlex.join([sys.executable, str(script), *arguments])


def bikes(**changes: Any) -> McpEnvironment:
    chosen: dict[str, Any] = {
        "server": command(HERE / "bike_server.py"),
        "setup_tool": "begin",
        "on_fork": "replay",
        "timeout_s": 20.0,
        "start_timeout_s": 30.0,
        "max_servers": 8,
        "variables": [],
        "compare_texts": "loose",
    }
    return McpEnvironment(**chosen | changes)


def task_of(*goals: Goal, state: Any = None, checks: dict[str, Check] | None = None) -> Task:
    world = OwnWorld(where="tasks.jsonl:1", state=state, checks=checks or {})
    return Task("one", "test", Brief(("Do it.",)), goals, world)


def call(session: McpSession, tool: str, /, **arguments: Any) -> ToolResult:
    return asyncio.run(session.call(ToolCall(tool, arguments)))


def rent(session: McpSession, bike: str) -> ToolResult:
    return call(session, "rent_bike", bike=bike, day="friday", name="Lind")


def free(session: McpSession) -> list[str]:
    found = call(session, "find_bikes", kind="city", day="friday").value
    assert isinstance(found, list)
    return [row["bike"] for row in found]


def num_servers(environment: McpEnvironment) -> int:
    """Connections that are open now."""
    return len(environment.desk._pool._open)


# tools


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


# forks


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


# faults


@pytest.mark.parametrize("on_fork", ["replay", "share", "refuse"])
def test_a_server_that_dies_breaks_the_dialogue_and_the_next_one_goes_on(on_fork):
    setup = None if on_fork == "share" else "begin"
    environment = bikes(on_fork=on_fork, setup_tool=setup)
    session = environment.open(task_of())
    with pytest.raises(ServerDownError, match=r"it is gone.*it said: the harbour is flooded"):
        call(session, "misbehave", how="die")
    assert free(environment.open(task_of())) == ["Bollard", "Cormorant"]


def test_a_call_that_hangs_is_an_error_and_the_branch_goes_on_in_a_fresh_server():
    session = bikes(timeout_s=2.0).open(task_of())
    rent(session, "Bollard")
    hung = call(session, "misbehave", how="hang")
    assert hung.error == "it did not answer within 2 s"
    assert free(session) == ["Cormorant"]


def test_a_call_that_hangs_breaks_the_dialogue_where_nothing_is_repeated():
    session = bikes(timeout_s=0.3, on_fork="refuse", setup_tool=None).open(task_of())
    with pytest.raises(NoAnswerError, match="did not answer within"):
        call(session, "misbehave", how="hang")
    with pytest.raises(ServerDownError, match="nothing is repeated"):
        rent(session, "Bollard")


@pytest.mark.parametrize(
    ("server", "message"),
    [
        ("no-such-program --stdio", r"it does not start .*no-such-program"),
        (command("-c", "print('harbour closed')"), r"it does not start|it is not ready"),
        (command("-c", "import sys; sys.exit('flooded')"), r"it said: flooded"),
        (command("-c", "import time; time.sleep(60)"), r"it is not ready after 1 s"),
        ("http://127.0.0.1:9/mcp", r"it does not start|it is not ready"),
    ],
)
def test_a_server_that_cannot_be_reached_is_refused_at_once(server, message):
    environment = bikes(server=server, start_timeout_s=1.0)
    with pytest.raises(ConfigError, match=r"environment\.server: MCP server .*" + message):
        environment.open(task_of())


def test_a_state_that_the_setup_tool_refuses_breaks_the_dialogue():
    session = bikes().open(task_of(state={"rentals": [{"bike": "Ferry"}]}))
    with pytest.raises(RepetitionError, match="begin refuses the state: Rental"):
        free(session)


# tasks, servers of other kinds, and their end


def test_a_task_s_state_needs_a_tool_that_takes_it():
    with pytest.raises(DataError, match=r"tasks\.jsonl:1: the task has a state.*setup_tool=NAME"):
        bikes(setup_tool=None).open(task_of(state={"in_repair": ["Bollard"]}))
    session = bikes().open(task_of(state={"in_repair": ["Bollard"]}))
    assert free(session) == ["Cormorant"]


def test_checks_see_the_calls_but_not_the_state():
    goal = Goal("check", "", {"function": "c.py:f"}, {"check": "c.py:f"})
    calls = Check(
        "c.py:f", lambda calls: any("Ferry" in str(c["value"]) for c in calls), ("calls",)
    )
    session = bikes().open(task_of(goal, checks={"c.py:f": calls}))
    assert rent(session, "Bollard").fulfilled == ()
    assert rent(session, "Ferry").fulfilled == ("c.py:f",)
    state = Check("c.py:f", lambda state: False, ("state",))
    with pytest.raises(DataError, match=r"asks for the state, which this environment does not see"):
        bikes().open(task_of(goal, checks={"c.py:f": state}))


def test_an_expected_call_is_reached_whatever_its_types_and_case():
    environment = bikes()
    goal = Goal("change_day", "", {"rental": 3, "day": "sunday"})
    environment.open(task_of(goal))
    made = ToolCall("change_day", {"rental": "3", "day": "sunday"})
    assert environment.achieves(goal, made, ToolResult({}), [goal])
    assert not environment.achieves(goal, made, ToolResult({}, error="no"), [goal])
    with pytest.raises(DataError, match=r"goals\.0: day is missing"):
        environment.open(task_of(Goal("change_day", "", {"rental": 3})))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"server": " "}, r"environment\.server is empty"),
        ({"timeout_s": 0.0}, r"environment\.timeout_s=0\.0 must be positive"),
        ({"max_servers": 0}, r"environment\.max_servers=0 must be positive"),
        ({"on_fork": "share"}, r"environment\.setup_tool=begin would set up the one server"),
    ],
)
def test_settings_are_checked_at_once(changes, message):
    with pytest.raises(ConfigError, match=message):
        bikes(**changes)


def test_an_unknown_setup_tool_is_refused_with_the_known_ones():
    with pytest.raises(
        ConfigError, match=r"setup_tool=start is no tool of the server; it has: beg"
    ):
        bikes(setup_tool="start").open(task_of())


def test_without_the_package_the_command_that_installs_it_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "mcp", None)
    with pytest.raises(ConfigError, match=r"needs the package mcp.*pip install 'drl\[mcp\]'"):
        bikes()


def test_a_server_gets_the_variables_that_are_named_and_no_others(monkeypatch):
    monkeypatch.setenv("HARBOUR_NAME", "Ferry Quay")
    monkeypatch.setenv("HARBOUR_SECRET", "do not tell")
    code = "import os, sys; sys.exit(str({k for k in os.environ if k.startswith('HARBOUR')}))"
    environment = bikes(server=command("-c", code), variables=["HARBOUR_NAME"])
    with pytest.raises(ConfigError, match=r"it said: \{'HARBOUR_NAME'\}"):
        environment.open(task_of())


def test_the_example_s_server_serves_the_same_desk():
    session = bikes(server=command(EXAMPLE)).open(task_of(state={"in_repair": ["Bollard"]}))
    assert free(session) == ["Cormorant"]
    rented = {"number": 1, "bike": "Cormorant", "day": "friday", "name": "Lind"}
    assert rent(session, "Cormorant").value == rented
    assert rent(session, "Cormorant").error == (
        "Error executing tool rent_bike: Cormorant is not free on friday"
    )


def test_a_server_ends_with_the_last_session_that_needs_it():
    environment = bikes()
    session = environment.open(task_of())
    fork = session.fork()
    free(session)
    free(fork)
    assert num_servers(environment) == 2
    del session
    wait_until(lambda: num_servers(environment) == 1)
    del fork
    wait_until(lambda: num_servers(environment) == 0)


def test_the_end_of_the_process_is_the_end_of_its_servers(tmp_path):
    marker = tmp_path / "ended"
    mourner = (
        f"import atexit, pathlib; atexit.register(pathlib.Path({str(marker)!r}).touch)\n"
        f"import sys; sys.path.insert(0, {str(HERE)!r}); import bike_server; bike_server.main()"
    )
    script = (
        "import sys, test_mcp\n"
        "session = test_mcp.bikes(server=sys.argv[1]).open(test_mcp.task_of())\n"
        "print(test_mcp.free(session))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script, command("-c", mourner)],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": f"{HERE}:{HERE.parents[1]}"},
    )
    assert done.stdout.strip() == "['Bollard', 'Cormorant']"
    assert done.stderr == ""
    assert marker.exists()


def test_a_server_may_have_a_url_and_breaks_the_dialogue_when_it_is_gone():
    with socket.create_server(("127.0.0.1", 0)) as free_port:
        port = free_port.getsockname()[1]
    script = (
        f"import sys; sys.path.insert(0, {str(EXAMPLE.parent)!r}); import server; "
        f"server.server.run('streamable-http', host='127.0.0.1', port={port})"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: is_open(port))
        url = f"http://127.0.0.1:{port}/mcp"
        environment = bikes(server=url, on_fork="share", setup_tool=None)
        session = environment.open(task_of())
        assert free(session) == ["Bollard", "Cormorant"]
        process.kill()
        process.wait()
        with pytest.raises(ServerDownError):
            free(session)
    finally:
        process.kill()
        process.wait()


def is_open(port: int) -> bool:
    with socket.socket() as attempt:
        return attempt.connect_ex(("127.0.0.1", port)) == 0


def wait_until(holds: Any) -> None:
    """Wait for something that happens in another thread or process."""
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)
