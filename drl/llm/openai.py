"""A model behind any server that speaks OpenAI's chat completions: OpenAI, vLLM, SGLang, llama.cpp.

What may pass (busy, broken or silent servers, half answers) is asked for again and counted; what
will not is told at once.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from drl.llm._openai_body import Dialect, MaxTokensField
from drl.llm._openai_samples import NPerRequest, Sampler
from drl.llm._openai_server import Server
from drl.llm._retry import Patience
from drl.llm.base import LLM, Completions, Request
from drl.types import JSON

if TYPE_CHECKING:
    from drl.llm._openai_wire import Wire


class OpenAILLM(LLM):
    """Asks a server. Calls wait here, not in the network, until the server can take them.

    The settings are those of `Server`, `Dialect` and `Patience`. `n_per_request` says whether one
    call may ask for several samples: "auto" tries, and goes on with single calls if the server
    gives fewer. Calls for several samples carry the seed of the first.
    """

    def __init__(
        self,
        *,
        model: str,
        base_url: str | None,
        api_version: str | None,
        api_key_env: str | None,
        timeout_s: float,
        max_attempts: int,
        retry_s: float,
        max_concurrency: int,
        n_per_request: NPerRequest,
        max_tokens_field: MaxTokensField,
        send_seed: bool,
        send_top_k: bool,
        return_tokens: bool,
        extra_body: Mapping[str, JSON],
    ) -> None:
        self._server = Server(base_url, api_version, api_key_env, timeout_s, max_concurrency)
        self._dialect = Dialect(
            model, max_tokens_field, send_seed, send_top_k, return_tokens, extra_body
        )
        patience = Patience(max_attempts, retry_s)
        self._sampler = Sampler(self._server, self._dialect, patience, n_per_request)
        self._wires: dict[asyncio.AbstractEventLoop, Wire] = {}

    @property
    def model(self) -> str:
        """The name under which the server knows it."""
        return self._dialect.model

    @property
    def takes_several(self) -> bool:
        """As the settings say, or as the server has shown."""
        return self._sampler.takes_several

    @property
    def identity(self) -> Mapping[str, str]:
        """Server, model, and what is added to every request."""
        return self._identity

    @cached_property
    def _identity(self) -> Mapping[str, str]:
        return {
            "backend": "openai",
            "base_url": self._server.address,
            "model": self._dialect.model,
            "return_tokens": str(self._dialect.return_tokens),
            "extra_body": json.dumps(dict(self._dialect.extra_body), sort_keys=True),
        }

    async def complete(self, request: Request) -> Completions:
        """Samples for a request; `seconds` count from the first call, not from the queue."""
        return await self._sampler.complete(self._wire(), request)

    async def close(self) -> None:
        """Close the connections that the running event loop uses."""
        wire = self._wires.pop(asyncio.get_running_loop(), None)
        if wire is not None:
            await wire.close()

    def _wire(self) -> Wire:
        """The connections of the running event loop, opened at its first call."""
        loop = asyncio.get_running_loop()
        wire = self._wires.get(loop)
        if wire is None:
            from drl.llm._openai_wire import Wire  # loads the client

            # connections end with their loop, whether anybody closed them or not
            self._wires = {old: wire for old, wire in self._wires.items() if not old.is_closed()}
            wire = self._wires[loop] = Wire(self._server, self._dialect.model)
        return wire
