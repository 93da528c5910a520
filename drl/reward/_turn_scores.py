"""Turn rewards for whoever waits for them: asked one by one, computed together, beside the loop."""

from __future__ import annotations

import asyncio
from asyncio import AbstractEventLoop, Lock, Task
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from drl.turn_reward.session import Utterance

_Asked = tuple[Sequence[Utterance], int]


@dataclass(eq=False)
class _Batch:
    """What was asked since the last batch began to be computed, and who computes it."""

    asked: list[_Asked] = field(default_factory=list)
    answers: Task[Sequence[float]] | None = None


@dataclass(eq=False)
class _Desk:
    """Of one event loop: one batch is computed at a time, and the next one fills up meanwhile."""

    busy: Lock = field(default_factory=Lock)
    filling: _Batch | None = None


class TurnScores:
    """Gathers questions of one event loop into batches; a thread computes them.

    Args:
        rewards_of: the rewards of agent turns by their places in dialogues, in order.
    """

    def __init__(self, rewards_of: Callable[[Sequence[_Asked]], Sequence[float]]) -> None:
        self._rewards_of = rewards_of
        self._desks: WeakKeyDictionary[AbstractEventLoop, _Desk] = WeakKeyDictionary()

    async def reward(self, utterances: Sequence[Utterance], place: int) -> float:
        """The reward of the agent's turn at a place of a dialogue; raises what computing raised."""
        desk = self._desks.setdefault(asyncio.get_running_loop(), _Desk())
        if desk.filling is None:
            desk.filling = _Batch()
            # it begins once all have asked that can by now
            desk.filling.answers = asyncio.create_task(self._answer(desk, desk.filling))
        batch = desk.filling
        assert batch.answers is not None
        number = len(batch.asked)
        batch.asked.append((utterances, place))
        answers = await asyncio.shield(batch.answers)  # who gives up does not end it for others
        return answers[number]

    async def _answer(self, desk: _Desk, batch: _Batch) -> Sequence[float]:
        async with desk.busy:
            desk.filling = None
            return await asyncio.to_thread(self._rewards_of, batch.asked)
