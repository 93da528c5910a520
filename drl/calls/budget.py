"""A limit on what a run spends, kept before it is passed."""

from __future__ import annotations

from asyncio import Condition
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pydantic_core

from drl.calls.ledger import Ledger
from drl.calls.prices import Price
from drl.calls.settings import CallSettings
from drl.errors import RunError
from drl.llm.base import Request, Usage

CHARACTERS_PER_TOKEN = 2
"""Fewer than common tokenizers need for English or JSON: an estimate is on the safe side."""


class BudgetError(RunError):
    """The next request might pass the budget of the run."""


class Budget:
    """Lets a request go only if its longest possible answer stays within the limits.

    What is under way counts as if it were spent to the most; a request that would fit once those
    are back waits for them.
    """

    def __init__(self, settings: CallSettings, ledger: Ledger) -> None:
        self._settings = settings
        self._ledger = ledger
        self._held_tokens = 0
        self._held_usd = 0.0
        self._changed = Condition()

    @asynccontextmanager
    async def room_for(self, request: Request, price: Price | None) -> AsyncIterator[None]:
        """Hold room for a request while it is under way.

        Raises:
            BudgetError: there is none, whatever comes back.
        """
        if self._settings.budget_usd is None and self._settings.budget_tokens is None:
            yield
            return
        most = _most(request)
        tokens = most.tokens_in + most.tokens_out
        usd = price.of(most) if price else 0.0
        async with self._changed:
            await self._changed.wait_for(lambda: self._fits(tokens, usd))
            self._held_tokens += tokens
            self._held_usd += usd
        try:
            yield
        finally:
            async with self._changed:
                self._held_tokens -= tokens
                self._held_usd -= usd
                self._changed.notify_all()

    def _fits(self, tokens: int, usd: float) -> bool:
        """Whether a request may go now; False: not while others are under way."""
        fits = True
        for key, limit, spent, held, more in (
            ("usd", self._settings.budget_usd, self._ledger.spent_usd, self._held_usd, usd),
            (
                "tokens",
                self._settings.budget_tokens,
                self._ledger.spent_tokens,
                self._held_tokens,
                tokens,
            ),
        ):
            if limit is not None and spent + more > limit:
                raise BudgetError(
                    f"calls.budget_{key}={limit} is used up: {spent:.6g} are spent and the next "
                    "request might pass the limit; raise it and start the same command again"
                )
            fits = fits and (limit is None or spent + held + more <= limit)
        return fits


def _most(request: Request) -> Usage:
    """The most that a request can take; a server may bill the prompt for each sample anew."""
    size = len(pydantic_core.to_json((request.messages, request.tools)))
    return Usage(
        tokens_in=request.n * (size // CHARACTERS_PER_TOKEN),
        tokens_cached=0,
        tokens_out=request.n * request.sampling.max_tokens,
    )
