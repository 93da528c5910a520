"""Tools of a real MCP server on stdio: faults, tasks, and what becomes of the servers."""

import os
import socket
import subprocess
import sys

import pytest
from environment.mcp_bikes import (
    EXAMPLE,
    HERE,
    bikes,
    command,
    free,
    is_open,
    num_servers,
    rent,
    wait_until,
)
from environment.own_tools import call, task_of

from drl.domains.own.world import Check
from drl.environment._mcp_connection import NoAnswerError, ServerDownError
from drl.environment._mcp_desk import RepetitionError
from drl.errors import ConfigError, DataError
from drl.types import Goal, ToolCall, ToolResult


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
        "import sys\n"
        "from environment import mcp_bikes, own_tools\n"
        "session = mcp_bikes.bikes(server=sys.argv[1]).open(own_tools.task_of())\n"
        "print(mcp_bikes.free(session))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script, command("-c", mourner)],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": f"{HERE.parent}:{HERE.parents[1]}"},
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
