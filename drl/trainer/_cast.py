"""The cast of a run, with its lines to models, for as long as it plays."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from drl.calls.switchboard import Switchboard
from drl.llm.base import LLM, NoLLM
from drl.play.cast import Cast
from drl.trainer.base import Parts, chosen

CACHE_FOLDER = "cache"
"""Below `data_dir`: what may be removed at any time."""

GRACE_S = 3.0
"""How long an interrupt waits for answers that are on their way."""


def open_switchboard(parts: Parts, folder: Path) -> Switchboard:
    """The switchboard of a run in `folder`, to be entered."""
    return Switchboard(parts.calls, folder, Path(str(parts.config["data_dir"])) / CACHE_FOLDER)


@asynccontextmanager
async def playing(parts: Parts, board: Switchboard, concurrency: int) -> AsyncIterator[Cast]:
    """The cast inside a running event loop; at the end all answers that are paid are in.

    Whoever interrupts waits for them too, but not for long.

    Args:
        concurrency: requests to models, and moves of other participants, in flight at once.
    """
    limit = asyncio.Semaphore(concurrency)

    def line(llm: LLM | None, key: str) -> LLM:
        return NoLLM(key) if llm is None else board.line(llm, limit)

    at_most_s: float | None = None
    try:
        yield Cast(
            agent=chosen(parts.agent),
            user_simulator=chosen(parts.user_simulator),
            environment=chosen(parts.environment),
            reward=chosen(parts.reward),
            score=chosen(parts.score),
            seed=parts.seed,
            limit=limit,
            llm=line(parts.llm, "llm"),
            user_llm=line(parts.user_llm, "user_llm"),
            judge_llm=line(parts.judge_llm, "judge_llm"),
        )
    except (asyncio.CancelledError, KeyboardInterrupt):
        at_most_s = GRACE_S
        raise
    finally:
        await board.drain(at_most_s)
        await board.close()
