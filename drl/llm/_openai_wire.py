"""The connections to an OpenAI-compatible server, for one event loop.

The official client with its own retries off. Importing this loads it, so it is imported at the
first call only.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import httpx2
from openai import (
    APIConnectionError,
    APIStatusError,
    APITimeoutError,
    AsyncAzureOpenAI,
    AsyncOpenAI,
    DefaultAsyncHttpx2Client,
    OpenAIError,
)

from drl.errors import DrlError
from drl.llm._adaptive import AdaptiveLimit
from drl.llm._openai_errors import Asked, Refusal, meaning, unknown_model
from drl.llm._openai_server import Server
from drl.llm._retry import Trouble

CONNECT_S: Final = 5.0
"""Longest wait for a connection."""

LANE_WIDTH: Final = 16
"""Connections of one client. Its pool walks over all of them twice per request, which at 256
costs more than everything else together; so they are spread over several clients
(`benchmarks.openai`: 4.7 ms of processor time at 256, 1.9 at 16)."""

_CHAT: Final = "/chat/completions"


@dataclass(slots=True, eq=False)
class _Lane:
    client: AsyncOpenAI
    taken: int = 0


class Wire:
    """Sends bodies and returns bodies; what fails is told apart here.

    Args:
        server: where to.
        model: the name that Azure puts into the address.
    """

    def __init__(self, server: Server, model: str) -> None:
        self._server = server
        self._model = model
        self._lanes: list[_Lane] = []
        self._trust = httpx2.create_ssl_context()
        self.limit = AdaptiveLimit(server.max_concurrency)
        self._open_lane()  # a missing key is told before anything waits

    async def chat(self, body: bytes, asked: Asked) -> bytes:
        """The body that answers a body; the whole call is bounded in time.

        Raises:
            Trouble: it failed for a reason that may pass.
            ConfigError: it will fail again.
            ContextOverflowError: the prompt is too long.
        """
        failure: DrlError | Trouble | Refusal
        with self._lane() as client:
            try:
                async with asyncio.timeout(self._server.timeout_s):
                    response = await client.post(_CHAT, cast_to=httpx2.Response, content=body)
                return response.content
            except TimeoutError:
                failure = Trouble(f"no answer within {self._server.timeout_s:g} s")
            except APIStatusError as error:
                response = error.response
                failure = Refusal(response.status_code, response.headers, response.content)
            except APIConnectionError as error:
                failure = _broken_connection(error)
        if isinstance(failure, Refusal):
            failure = await self._judge(failure, asked)
        raise failure  # outside of the handlers: their errors hold the key in a header

    async def _judge(self, refusal: Refusal, asked: Asked) -> DrlError | Trouble:
        key = self._server.key()
        if refusal.status == 404:
            return unknown_model(refusal, asked, key, await self._known_models())
        return meaning(refusal, asked, key)

    async def _known_models(self) -> list[str]:
        """The models that the server lists; none if it cannot be asked."""
        with self._lane() as client:
            try:
                async with asyncio.timeout(CONNECT_S):
                    page = await client.models.list()
                return sorted(model.id for model in page.data)
            except (OpenAIError, TimeoutError, ValueError, TypeError, AttributeError):
                return []  # the list only helps the message; what came may be anything

    async def close(self) -> None:
        """Close all connections."""
        lanes, self._lanes = self._lanes, []
        for lane in lanes:
            await lane.client.close()

    @contextmanager
    def _lane(self) -> Iterator[AsyncOpenAI]:
        """A client with a free connection; the first in the row, so that the others may rest."""
        free = (lane for lane in self._lanes if lane.taken < LANE_WIDTH)
        lane = next(free, None) or self._open_lane()
        lane.taken += 1
        try:
            yield lane.client
        finally:
            lane.taken -= 1

    def _open_lane(self) -> _Lane:
        server = self._server
        # no room in the pool is ever waited for: lanes and the limit see to it
        timeout = httpx2.Timeout(
            server.timeout_s, connect=min(CONNECT_S, server.timeout_s), pool=None
        )
        limits = httpx2.Limits(
            max_connections=None, max_keepalive_connections=LANE_WIDTH, keepalive_expiry=30.0
        )
        http = DefaultAsyncHttpx2Client(timeout=timeout, limits=limits, verify=self._trust)
        if server.api_version is None:
            client = AsyncOpenAI(
                api_key=server.key(), base_url=server.address, max_retries=0, http_client=http
            )
        else:
            client = AsyncAzureOpenAI(
                api_key=server.key(),
                azure_endpoint=server.address,
                azure_deployment=self._model,
                api_version=server.api_version,
                max_retries=0,
                http_client=http,
            )
        lane = _Lane(client)
        self._lanes.append(lane)
        return lane


def _broken_connection(error: APIConnectionError) -> Trouble:
    cause = error.__cause__
    if isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout):
        words = " ".join(str(cause).split()) or "it took too long"
        return Trouble(f"no connection ({words})", unreachable=True)
    if isinstance(error, APITimeoutError):
        return Trouble("no answer in time")
    return Trouble("a connection that broke off")
