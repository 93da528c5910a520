"""The line to one model: cached answers, siblings in one request, budget, ledger.

A participant asks a `Line`, which is an `LLM` itself. Samples that were answered before come from
the cache; one that is on its way is waited for; the rest leave in one request with all others of
the same prompt and place that were asked in the same tick of the event loop: so the children of a
branching point are one request with `n` samples. Equal prompts elsewhere go on their own, since
whether they meet is a matter of time, and results must not be.
"""

from __future__ import annotations

import asyncio
import time
from asyncio import Future, Semaphore, Task
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from drl.calls.budget import Budget
from drl.calls.cache import Kept, ResponseCache, prompt_key, sample_key
from drl.calls.ledger import Entry, Ledger
from drl.calls.prices import Price
from drl.llm.base import LLM, Completion, Completions, OutageError, Request, Usage
from drl.types import Place

Answer = Future[Completion]
_Wanted = tuple[bytes, Place | None]
"""What parcels are put together by: the prompt, and where in the run it is asked."""


@dataclass(slots=True, eq=False)
class _Parcel:
    """Samples of one prompt that leave together."""

    request: Request
    answers: dict[bytes, tuple[int, Answer]] = field(default_factory=dict)
    """By sample key: the seed, and the answer to come."""

    def one_by_one(self) -> list[_Parcel]:
        """A parcel for each sample."""
        return [_Parcel(self.request, {key: entry}) for key, entry in self.answers.items()]


class Line(LLM):
    """The way to one model. Every sample gets its own answer, whoever asked with it."""

    def __init__(
        self,
        llm: LLM,
        price: Price | None,
        limit: Semaphore,
        cache: ResponseCache,
        budget: Budget,
        ledger: Ledger,
    ) -> None:
        self._llm = llm
        self._price = price
        self._limit = limit
        self._cache = cache
        self._budget = budget
        self._ledger = ledger
        self._parcels: dict[_Wanted, _Parcel] = {}
        self._coming: dict[bytes, Answer] = {}
        self._under_way: set[Task[None]] = set()
        self._sent: set[Task[None]] = set()
        """Of those under way: past all waiting for room."""
        self._is_draining = False

    @property
    def model(self) -> str:
        """The model's name, with its adapter: bills of before and after a training differ."""
        name, adapter = self._llm.model, self._llm.adapter
        return name if adapter is None else f"{name} with {adapter}"

    @property
    def identity(self) -> Mapping[str, str]:
        """The model's identity."""
        return self._llm.identity

    async def complete(self, request: Request) -> Completions:
        """The samples; `usage`, `seconds` and `retries` are in the ledger, not here.

        Raises:
            BudgetError: the request might pass the budget; it was not sent.
        """
        prompt = prompt_key(self._llm, request)
        keys = [sample_key(prompt, request, seed) for seed in request.seeds]
        kept = self._cache.get(keys)
        self._write_spared(request, {k: e for k, e in zip(keys, kept, strict=True) if e})
        choices: list[Completion | Answer] = [
            entry.completion
            if entry
            else self._coming.get(key) or self._post(request, prompt, key, seed)
            for entry, key, seed in zip(kept, keys, request.seeds, strict=True)
        ]
        # a shield: whoever is cancelled must not take the answer from others who wait for it
        done = [c if isinstance(c, Completion) else await asyncio.shield(c) for c in choices]
        return Completions(tuple(done), Usage(0, 0, 0), seconds=0.0)

    def _post(self, request: Request, prompt: bytes, key: bytes, seed: int) -> Answer:
        """Put a sample into the parcel of its prompt; the first in it sends it in the next tick."""
        loop = asyncio.get_running_loop()
        wanted = (prompt, request.place)
        parcel = self._parcels.get(wanted)
        if parcel is None:
            parcel = self._parcels[wanted] = _Parcel(request)
            loop.call_soon(self._dispatch, wanted)
        answer: Answer = loop.create_future()
        parcel.answers[key] = (seed, answer)
        self._coming[key] = answer
        return answer

    def _dispatch(self, wanted: _Wanted) -> None:
        parcel = self._parcels.pop(wanted)
        parcels = [parcel] if self._llm.takes_several else parcel.one_by_one()
        for part in parcels:  # each is kept and written down, whatever becomes of the others
            task = asyncio.ensure_future(self._send(part))
            self._under_way.add(task)
            task.add_done_callback(self._under_way.discard)

    async def _send(self, parcel: _Parcel) -> None:
        seeds = tuple(seed for seed, _ in parcel.answers.values())
        request = replace(parcel.request, seeds=seeds)
        task = asyncio.current_task()
        assert task is not None, "dispatch made one"
        try:
            async with self._limit, self._budget.room_for(request, self._price):
                if self._is_draining:
                    raise asyncio.CancelledError
                self._sent.add(task)
                began = time.time()
                try:
                    completions = await self._llm.complete(request)
                except OutageError as outage:
                    self._write_outage(request, outage, began)
                    raise
                self._write(request, completions, began, parcel.answers)
            answered = zip(parcel.answers.values(), completions.choices, strict=True)
            pairs = [(answer, completion) for (_, answer), completion in answered]
            kept = [_kept(completion, completions, began) for _, completion in pairs]
            self._cache.put(zip(parcel.answers, kept, strict=True))
        except BaseException as error:
            self._fail(parcel, error)
            if not isinstance(error, Exception):
                raise
            return
        finally:
            self._sent.discard(task)
            for key in parcel.answers:
                del self._coming[key]
        for answer, completion in pairs:
            answer.set_result(completion)

    def _write(
        self, request: Request, completions: Completions, began: float, keys: Iterable[bytes]
    ) -> None:
        usage = completions.usage
        entry = _entry(
            request,
            self.model,
            samples=len(completions.choices),
            tokens_in=usage.tokens_in,
            tokens_cached=usage.tokens_cached,
            tokens_out=usage.tokens_out,
            seconds=round(completions.seconds, 4),
            usd=None if self._price is None else self._price.of(usage),
            retries=completions.retries,
            began=began,
            keys=_listed(keys),
        )
        self._ledger.write(entry)

    def _write_outage(self, request: Request, outage: OutageError, began: float) -> None:
        """A line without samples: what it was tried is in the bill too."""
        seconds = round(time.time() - began, 4)
        entry = _entry(
            request,
            self.model,
            samples=0,
            seconds=seconds,
            retries=outage.retries,
            began=began,
            keys=(),
        )
        self._ledger.write(entry)

    def _write_spared(self, request: Request, found: Mapping[bytes, Kept]) -> None:
        """A line for each request whose samples need not be asked again."""
        by_request: dict[float, dict[bytes, Kept]] = {}
        for key, kept in found.items():
            by_request.setdefault(kept.began, {})[key] = kept
        for began, group in by_request.items():
            first = next(iter(group.values()))
            share = len(group) / first.samples
            entry = _entry(
                request,
                self.model,
                samples=len(group),
                tokens_in=round(first.usage.tokens_in * share),
                tokens_cached=round(first.usage.tokens_cached * share),
                tokens_out=round(first.usage.tokens_out * share),
                seconds=round(first.seconds, 4),
                from_cache=True,
                began=began,
                keys=_listed(group),
            )
            self._ledger.write(entry)

    def _fail(self, parcel: _Parcel, error: BaseException) -> None:
        for _, answer in parcel.answers.values():
            if isinstance(error, Exception):
                answer.set_exception(error)
                answer.exception()  # whoever asked may be gone; that is no reason to complain
            else:
                answer.cancel()

    async def drain(self, at_most_s: float | None = None) -> None:
        """Wait until what was sent is back; what still waits for room is given up."""
        self._is_draining = True
        waiting = self._under_way - self._sent
        for task in waiting:
            task.cancel()
        if self._under_way:
            await asyncio.wait(self._under_way, timeout=at_most_s)

    async def close(self) -> None:
        """Give up what is still under way and close the model."""
        for task in self._under_way:
            task.cancel()
        if self._under_way:
            await asyncio.wait(self._under_way)
        await self._llm.close()


def _entry(
    request: Request,
    model: str,
    *,
    samples: int,
    tokens_in: int = 0,
    tokens_cached: int = 0,
    tokens_out: int = 0,
    seconds: float = 0.0,
    usd: float | None = 0.0,
    retries: int = 0,
    from_cache: bool = False,
    began: float,
    keys: tuple[str, ...],
) -> Entry:
    place = request.place
    return Entry(
        purpose=request.purpose,
        task_id=place.task_id if place else None,
        trial=place.trial if place else None,
        node=place.node if place else None,
        model=model,
        samples=samples,
        tokens_in=tokens_in,
        tokens_cached=tokens_cached,
        tokens_out=tokens_out,
        seconds=seconds,
        usd=usd,
        retries=retries,
        from_cache=from_cache,
        began=began,
        keys=keys,
    )


def _kept(completion: Completion, completions: Completions, began: float) -> Kept:
    return Kept(completion, len(completions.choices), completions.usage, began, completions.seconds)


def _listed(keys: Iterable[bytes]) -> tuple[str, ...]:
    """Keys as the ledger lists them: short, yet different for all samples of a run."""
    return tuple(key[:8].hex() for key in keys)
