"""Sessions made for tests of turn reward measures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from drl.evaluation.turn_rewards import HeldOut, Observed


def observed(
    name: str,
    labels: Sequence[float],
    *,
    conversation: str | None = None,
    score: float = 0.0,
    lengths: Sequence[float] | None = None,
    hidden: Sequence[float] | None = None,
) -> Observed:
    """A session of its own conversation, with turns of equal length, unless said otherwise."""
    return Observed(
        session_id=name,
        conversation_id=name if conversation is None else conversation,
        score=score,
        labels=np.array(labels, dtype=float),
        lengths=np.array(lengths if lengths is not None else [1.0] * len(labels)),
        hidden=None if hidden is None else np.array(hidden, dtype=float),
    )


def told(session: Observed, *rewards: Sequence[float]) -> HeldOut:
    """What models say of it, one for each seed; they add up."""
    each = np.array(rewards, dtype=float)
    return HeldOut(observed=session, rewards=each, totals=each.sum(axis=1))


def generated(
    num: int, seed: int, *, skill: float, num_seeds: int = 5, num_turns: int = 12
) -> list[HeldOut]:
    """Conversations of two sessions each; models whose rewards are true but for noise.

    Hidden rewards have mean 0 and sd 1. At `skill` 0 what is told is noise alone.
    """
    rng = np.random.default_rng(seed)
    sessions: list[HeldOut] = []
    for number in range(num):
        hidden = rng.normal(size=(2, num_turns)) + rng.normal()
        for side, true in enumerate(hidden):
            faces = (true + rng.normal(size=num_turns) > 0.8).astype(float)
            session = observed(
                f"{number}/{side}",
                faces.tolist(),
                conversation=str(number),
                score=float(true.sum()),
                hidden=true.tolist(),
            )
            noise = rng.normal(size=(num_seeds, num_turns))
            sessions.append(told(session, *(skill * true + (1 - skill) * noise)))
    return sessions
