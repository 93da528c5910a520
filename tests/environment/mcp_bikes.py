"""A bike rental as a real MCP server on stdio, and what a test asks of it."""

import shlex
import socket
import sys
import time
from pathlib import Path
from typing import Any

from environment.own_tools import call

from drl.environment.mcp import McpEnvironment, McpSession
from drl.types import ToolResult

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


def rent(session: McpSession, bike: str) -> ToolResult:
    return call(session, "rent_bike", bike=bike, day="friday", name="Lind")


def free(session: McpSession) -> list[str]:
    found = call(session, "find_bikes", kind="city", day="friday").value
    assert isinstance(found, list)
    return [row["bike"] for row in found]


def num_servers(environment: McpEnvironment) -> int:
    """Connections that are open now."""
    return len(environment.desk._pool._open)


def is_open(port: int) -> bool:
    with socket.socket() as attempt:
        return attempt.connect_ex(("127.0.0.1", port)) == 0


def wait_until(holds: Any) -> None:
    """Wait for something that happens in another thread or process."""
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)
