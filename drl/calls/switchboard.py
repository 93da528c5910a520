"""Where all requests of a run pass: opens the lines to models, and holds what they share."""

from __future__ import annotations

import asyncio
from asyncio import Semaphore
from contextlib import ExitStack
from pathlib import Path

from drl.calls.budget import Budget
from drl.calls.cache import FILE_NAME as CACHE_NAME
from drl.calls.cache import ResponseCache
from drl.calls.ledger import FILE_NAME as LEDGER_NAME
from drl.calls.ledger import Ledger
from drl.calls.line import Line
from drl.calls.prices import price_of
from drl.calls.settings import CallSettings
from drl.llm.base import LLM


class Switchboard:
    """Opens the lines of one run; holds its ledger, cache and budget.

    Files are made with the first line: a run without models leaves none.

    Args:
        settings: budget, cache and prices.
        folder: the run folder, for `calls.jsonl`.
        cache_folder: where the response cache lies; runs share it.
    """

    def __init__(self, settings: CallSettings, folder: Path, cache_folder: Path) -> None:
        self._settings = settings
        self.ledger = Ledger(folder / LEDGER_NAME)
        self._cache = ResponseCache(cache_folder / CACHE_NAME if settings.cache else None)
        self._no_cache = ResponseCache(None)
        self._budget = Budget(settings, self.ledger)
        self._lines: dict[int, Line] = {}
        self._open = ExitStack()
        self._is_in_use = False

    def __enter__(self) -> Switchboard:
        return self

    def __exit__(self, *failure: object) -> None:
        self._open.close()

    def line(self, llm: LLM, limit: Semaphore) -> Line:
        """The line to a model, one for each; `limit` bounds the requests that are under way."""
        if not self._is_in_use:
            self._is_in_use = True
            self._open.enter_context(self.ledger)
            self._open.enter_context(self._cache)
        if id(llm) not in self._lines:
            price = price_of(llm, self._settings.prices)
            if price is not None:
                self.ledger.price_earlier(llm.model, price)
            cache = self._cache if llm.keeps_answers else self._no_cache
            self._lines[id(llm)] = Line(llm, price, limit, cache, self._budget, self.ledger)
        return self._lines[id(llm)]

    async def drain(self, at_most_s: float | None = None) -> None:
        """Wait for what was sent, so that no answer that is paid gets lost; send nothing more."""
        await asyncio.gather(*(line.drain(at_most_s) for line in self._lines.values()))

    async def close(self) -> None:
        """Close all models; later lines open them anew."""
        lines, self._lines = self._lines, {}
        await asyncio.gather(*(line.close() for line in lines.values()))
