"""One conversation with an MCP server; all of it runs on the loop that made it.

A connection lives in a task of its own, because the client has to be left in the task that
entered it. The `mcp` package is imported at the first connection.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import os
import shlex
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from drl.domains.own.plain import NotJsonError, to_plain
from drl.errors import DialogueError
from drl.types import JSON, ToolResult, ToolSpec

if TYPE_CHECKING:
    from mcp import Client
    from mcp.types import CallToolResult

_MAX_WORDS = 300
"""Characters of what a server said last that are repeated in errors."""


class ServerDownError(DialogueError):
    """A server cannot be started or reached, or is gone: says nothing of the agent."""


class NoAnswerError(DialogueError):
    """A server did not answer a call in time; what became of the call is unknown."""


@dataclass(frozen=True, slots=True)
class Server:
    """How to reach a server: a command that speaks on stdio, or an http(s) URL.

    `variables` are names of environment variables that a command gets beside the usual ones.
    `start_timeout_s` bounds the time until it is ready.
    """

    address: str
    variables: tuple[str, ...]
    start_timeout_s: float

    @property
    def is_url(self) -> bool:
        """Whether it is reached over HTTP."""
        return self.address.startswith(("http://", "https://"))

    def client(self, words: TextIO, *, stateless: bool) -> AbstractAsyncContextManager[Client]:
        """The client to be entered; what a command writes to stderr goes to `words`.

        Only the older handshake gives every connection over HTTP a session of its own.
        """
        from mcp import Client, StdioServerParameters, stdio_client

        for noisy in ("mcp", "client", "httpx2"):  # what goes wrong is in the results
            logging.getLogger(noisy).setLevel(logging.CRITICAL)
        if self.is_url:
            return Client(self.address, mode="auto" if stateless else "legacy", cache=None)
        command, *arguments = shlex.split(self.address)
        environ = {name: os.environ[name] for name in self.variables if name in os.environ}
        parameters = StdioServerParameters(command=command, args=arguments, env=environ)
        return Client(stdio_client(parameters, words), cache=None)


class Connection:
    """A server that was started or reached for one purpose."""

    def __init__(self, server: Server, *, stateless: bool) -> None:
        self.is_closed = False
        self._server = server
        self._stateless = stateless
        self._stop = asyncio.Event()
        self._client: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._words = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        self._life = asyncio.create_task(self._live())

    async def tools(self) -> Sequence[ToolSpec]:
        """The tools that the server offers.

        Raises:
            ServerDownError: it does not.
        """
        client = await self._ready()
        specs: list[ToolSpec] = []
        cursor: str | None = None
        try:
            async with asyncio.timeout(self._server.start_timeout_s):
                while True:
                    page = await client.list_tools(cursor=cursor)
                    specs += [_spec(t.name, t.description, t.input_schema) for t in page.tools]
                    cursor = page.next_cursor
                    if cursor is None:
                        return specs
        except Exception as error:
            raise self._down("it does not list its tools", error) from error

    async def call(self, name: str, arguments: dict[str, object], timeout_s: float) -> ToolResult:
        """What a tool gave; an error where the tool or the server refused.

        Raises:
            NoAnswerError: there was no answer in time.
            ServerDownError: the server is gone.
        """
        from mcp import MCPError
        from mcp.types import CONNECTION_CLOSED

        client = await self._ready()
        plain = to_plain(arguments)
        assert isinstance(plain, dict)
        try:
            async with asyncio.timeout(timeout_s):
                result = await client.call_tool(name, plain)
        except TimeoutError as error:
            raise NoAnswerError(f"it did not answer within {timeout_s:g} s") from error
        except MCPError as error:
            if error.code == CONNECTION_CLOSED:
                raise self._down("it is gone", error) from error
            return _refused(error.message)
        except OSError as error:
            raise self._down("it is gone", error) from error
        except (ValueError, RuntimeError) as error:  # an answer that breaks the protocol
            return _refused(f"its answer cannot be read: {error}")
        return _result(result)

    def close(self) -> None:
        """Begin to end it; calls that wait are given up."""
        self.is_closed = True
        self._stop.set()

    async def closed(self) -> None:
        """Wait until it has ended."""
        await asyncio.wait({self._life})

    async def _ready(self) -> Client:
        return await asyncio.shield(self._client)

    async def _live(self) -> None:
        """From the first word to the last; whoever asks too late or in vain is told why."""
        import anyio

        error: BaseException | None = None
        with self._words:
            with anyio.CancelScope(
                deadline=anyio.current_time() + self._server.start_timeout_s
            ) as start:
                try:
                    async with self._server.client(
                        self._words, stateless=self._stateless
                    ) as client:
                        start.deadline = math.inf
                        self._client.set_result(client)
                        await self._stop.wait()
                except Exception as raised:
                    error = raised
            self.is_closed = True
            if not self._client.done():
                late = f"it is not ready after {self._server.start_timeout_s:g} s"
                self._client.set_exception(
                    self._down("it does not start" if error else late, error)
                )
                self._client.exception()  # asked or not, it is not lost

    def _down(self, what: str, error: BaseException | None) -> ServerDownError:
        reason = f" ({_innermost(error)})" if error is not None else ""
        words = self._last_words()
        return ServerDownError(
            f"MCP server {self._server.address}: {what}{reason}"
            + (f"; it said: {words}" if words else "")
        )

    def _last_words(self) -> str:
        if self._words.closed:
            return ""
        self._words.seek(0)
        lines = [line.strip() for line in self._words.read().splitlines() if line.strip()]
        return lines[-1][-_MAX_WORDS:] if lines else ""


def _spec(name: str, description: str | None, schema: Mapping[str, JSON]) -> ToolSpec:
    said = " ".join((description or name).split())
    return ToolSpec(name, said, {"type": "object", "properties": {}, **schema})


def _result(result: CallToolResult) -> ToolResult:
    """The structured content, or else the texts; a text that is a JSON object or list is read."""
    texts = [block.text for block in result.content if block.type == "text"]
    others = sorted({block.type for block in result.content} - {"text"})
    said = "\n".join(texts)
    if result.is_error:
        return _refused(said or "the tool failed and does not say why")
    if others and result.structured_content is None:
        return _refused(f"it returned {', '.join(others)}, which is neither JSON nor text")
    value = _read(said) if result.structured_content is None else result.structured_content
    if isinstance(value, dict) and set(value) == {"result"}:
        value = value["result"]  # how servers wrap what is no object
    try:
        return ToolResult(to_plain(value))
    except NotJsonError as error:
        return _refused(f"it returned something that is not JSON: {error}")


def _read(text: str) -> JSON:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, dict | list) else text


def _refused(reason: str) -> ToolResult:
    text = " ".join(reason.encode(errors="replace").decode().split())
    return ToolResult(f"ERROR: {text}", error=text)


def _innermost(error: BaseException) -> str:
    """What a task group wraps, in words."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return " ".join(f"{type(error).__name__}: {error}".split())
