"""Tasks from recorded sessions: what was said until an agent's turn, which is then the agent's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from drl.errors import ConfigError
from drl.runtime.seeds import derive
from drl.turn_reward.session import Session
from drl.types import Brief, Role, Step, Task, Turn


@dataclass(frozen=True, kw_only=True)
class ContextSettings:
    """Which turns of a session become tasks, and how much of what was said before is told.

    Of the agent's turns that follow one of the listener's, with at least `min_before` turns before
    and `min_after` behind them, `per_session` are drawn without replacement; None takes all. What
    was said before is told in full up to `max_history` turns, and of more the last `keep_history`.
    """

    per_session: int | None
    seed: int
    min_before: int
    min_after: int
    max_history: int
    keep_history: int

    def __post_init__(self) -> None:
        """Check the settings against each other."""
        if self.per_session is not None and self.per_session < 1:
            raise ConfigError(f"per_session={self.per_session} must be at least 1; null takes all")
        if self.min_before < 1 or self.min_after < 0:
            raise ConfigError(
                f"min_before={self.min_before} must be at least 1, and min_after={self.min_after} "
                "must not be negative"
            )
        if not 1 <= self.keep_history <= self.max_history:
            raise ConfigError(
                f"keep_history={self.keep_history} must be from 1 to max_history={self.max_history}"
            )


def contexts(session: Session, settings: ContextSettings) -> Iterator[Task]:
    """The tasks of a session in the order of its turns, the same ones every time.

    Everything told stands in `opening`, which ends with the listener's turn, so the agent speaks
    first. `world` holds what a reward may want to know: what the human said in the agent's place,
    how the listener's face took it, and the score of the session.
    """
    places = _candidates(session, settings)
    if settings.per_session is not None and settings.per_session < len(places):
        random = Random(derive("context", settings.seed, session.id))
        places = sorted(random.sample(places, settings.per_session))
    for place in places:
        yield _task(session, place, settings)


def _candidates(session: Session, settings: ContextSettings) -> Sequence[int]:
    last = len(session.turns) - settings.min_after
    return [
        place
        for place in session.agent_turns
        if settings.min_before <= place < last and session.turns[place - 1].role is Role.USER
    ]


def _task(session: Session, place: int, settings: ContextSettings) -> Task:
    turn, told = session.turns[place], session.turns[:place]
    if len(told) > settings.max_history:
        told = told[-settings.keep_history :]
    return Task(
        id=f"{session.id}/{turn.number}",
        split=session.split,
        brief=Brief((), human_turns=(told[-1].text,)),
        goals=(),
        opening=tuple(
            Turn(said.role, said.text, (Step(said.text, reply=said.text),)) for said in told
        ),
        world={
            "conversation_id": session.conversation_id,
            "session_id": session.id,
            "turn": turn.number,
            "human_reply": turn.text,
            "label": turn.reaction.label if turn.reaction else None,
            "score": session.score,
        },
    )
