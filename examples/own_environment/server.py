"""The same desk as an MCP server on stdio, one desk per process: `python server.py`.

`begin` is no tool for agents: with `environment.setup_tool=begin` it is given the `state` of the
task.
"""

from collections.abc import Callable
from functools import wraps
from inspect import signature

import tools
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("Harbour Bikes", log_level="ERROR")
desk = {"state": tools.initial_state(None)}


@server.tool()
def begin(state: dict | None = None) -> str:
    """Opens the desk in the state of a task."""
    desk["state"] = tools.initial_state(state)
    return "the desk is open"


def at_the_desk(function: Callable) -> Callable:
    """A tool without its first parameter, which is this server's own desk."""

    @wraps(function)
    def tool(**arguments: object) -> object:
        try:
            return function(desk["state"], **arguments)
        except ValueError as error:
            raise ToolError(str(error)) from error  # else the server keeps the reason to itself

    whole = signature(function)
    tool.__signature__ = whole.replace(parameters=list(whole.parameters.values())[1:])
    return tool


for function in (
    tools.find_bikes,
    tools.rent_bike,
    tools.change_day,
    tools.cancel_rental,
    tools.report_damage,
):
    server.tool()(at_the_desk(function))

if __name__ == "__main__":
    server.run()
