"""One request to a model as calls to a server: several samples in one, or side by side."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Literal

from drl.errors import ConfigError
from drl.llm._openai_answer import Answer, MalformedAnswerError, read_answer
from drl.llm._openai_body import Dialect, encode
from drl.llm._openai_errors import Asked, RefusedRequestError
from drl.llm._openai_server import Server
from drl.llm._retry import LONGEST_ASKED_WAIT_S, Patience, Persistence, Trouble
from drl.llm.base import Completion, Completions, Request, Usage
from drl.types import JSON

if TYPE_CHECKING:
    from drl.llm._openai_wire import Wire

NPerRequest = bool | Literal["auto"]


@dataclass(slots=True)
class _Tally:
    """What the calls of one request add up to."""

    usage: Usage = field(default_factory=lambda: Usage(0, 0, 0))
    retries: int = 0
    started: float | None = None

    def start(self) -> None:
        """The first call leaves; time in the queue before it does not count."""
        if self.started is None:
            self.started = time.monotonic()

    def add(self, usage: Usage, retries: int) -> None:
        """Another call was answered."""
        self.retries += retries
        self.usage = Usage(
            self.usage.tokens_in + usage.tokens_in,
            self.usage.tokens_cached + usage.tokens_cached,
            self.usage.tokens_out + usage.tokens_out,
        )

    def completions(self, choices: Sequence[Completion]) -> Completions:
        """The result."""
        seconds = 0.0 if self.started is None else time.monotonic() - self.started
        return Completions(tuple(choices), self.usage, seconds, self.retries)


class Sampler:
    """Turns requests into calls; learns whether the server gives several samples per call."""

    def __init__(
        self, server: Server, dialect: Dialect, patience: Patience, n_per_request: NPerRequest
    ) -> None:
        self._server = server
        self._dialect = dialect
        self._persistence = Persistence(
            lambda: f"llm.model={dialect.model} at {server.address}", patience
        )
        self.takes_several = n_per_request is not False
        """Whether one call may ask for several samples, as far as is known."""
        self._learns = n_per_request == "auto"

    async def complete(self, wire: Wire, request: Request) -> Completions:
        """The samples of a request in the order of its seeds."""
        body = self._dialect.body(request)
        max_tokens = request.sampling.max_tokens
        asked = Asked(
            self._dialect.model, self._server.address, self._server.api_key_env, max_tokens
        )
        # without randomness all samples are one, and vLLM refuses to draw several
        seeds = request.seeds[:1] if request.sampling.temperature == 0 else request.seeds
        tally = _Tally()
        choices: list[Completion] = []
        while len(choices) < len(seeds):
            choices += await self._some(wire, body, asked, seeds[len(choices) :], tally)
        return tally.completions(choices * (request.n // len(seeds)))

    async def _some(
        self,
        wire: Wire,
        body: Mapping[str, JSON],
        asked: Asked,
        seeds: Sequence[int],
        tally: _Tally,
    ) -> list[Completion]:
        """Samples for the first of the seeds, at least for one."""
        if self.takes_several and len(seeds) > 1:
            try:
                together = self._dialect.for_samples(body, len(seeds), seeds[0])
                answer = await self._call(wire, together, asked, seeds[0], tally)
            except RefusedRequestError:
                if not self._learns:
                    raise
                self.takes_several = False  # if it was not for `n`, single calls will say so
            else:
                if len(answer.choices) < len(seeds) and self._learns:
                    self.takes_several = False
                return list(answer.choices[: len(seeds)])
        answers = await asyncio.gather(
            *(
                self._call(wire, self._dialect.for_samples(body, 1, seed), asked, seed, tally)
                for seed in seeds
            ),
            return_exceptions=True,  # none is left behind on its way when one fails
        )
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer
        return [answer.choices[0] for answer in answers if isinstance(answer, Answer)]

    async def _call(
        self, wire: Wire, body: Mapping[str, JSON], asked: Asked, seed: int, tally: _Tally
    ) -> Answer:
        data = encode(body)

        async def attempt(number: int) -> Answer:
            async with wire.limit.place(again=number > 1) as since:
                tally.start()
                try:
                    answer = read_answer(await wire.chat(data, asked), len(data))
                except MalformedAnswerError as error:
                    raise Trouble(str(error)) from None
                except Trouble as trouble:
                    if trouble.refused:
                        wire.limit.refused(since, _pause_s(trouble))
                    raise
                wire.limit.succeeded()
            return answer

        answer, retries = await self._persistence.ask(attempt, Random(seed))
        if self._dialect.return_tokens and not answer.has_token_ids:
            raise ConfigError(
                f"llm.return_tokens=true, but {asked.address} gives no token ids; use a server "
                "that knows return_token_ids (vLLM, SGLang), or set llm.return_tokens=false"
            )
        tally.add(answer.usage, retries)
        return answer


def _pause_s(trouble: Trouble) -> float | None:
    """For how long nobody should ask; a wait that is too long is an outage instead."""
    is_short = trouble.wait_s is not None and trouble.wait_s <= LONGEST_ASKED_WAIT_S
    return trouble.wait_s if is_short else None
