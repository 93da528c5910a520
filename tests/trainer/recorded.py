"""Small recorded sessions, and how turn rewards are learned from them in tests."""

from __future__ import annotations

import numpy as np

from drl.turn_reward.session import Reaction, Session, SessionTurn
from drl.types import Role

WARM = ("That is lovely, tell me more!", "You are so kind, I enjoy this.", "What a great story!")
COLD = ("Whatever.", "I do not care about that.", "Be quiet for once.")


def session(number: int, split: str, *, num_turns: int = 8, seed: int = 0) -> Session:
    """A talk whose agent is warm or cold by turns; the score and each label are about that."""
    rng = np.random.default_rng((seed, number))
    share = rng.uniform()
    turns: list[SessionTurn] = []
    warmth: list[float] = []
    for place in range(num_turns):
        if place % 2 == 0:
            turns.append(_turn(place, Role.USER, f"So it was {rng.integers(9)} degrees.", None))
            continue
        is_warm = rng.uniform() < share
        warmth.append(float(is_warm))
        said = str(rng.choice(WARM if is_warm else COLD))
        turns.append(_turn(place, Role.AGENT, said, Reaction(label=float(is_warm))))
    score = 3.0 + 4.0 * float(np.mean(warmth))
    return Session(f"c{number}/first", f"c{number}", split, tuple(turns), score)


def sessions(num_train: int = 12, num_val: int = 4, num_test: int = 6) -> list[Session]:
    splits = ["train"] * num_train + ["val"] * num_val + ["test"] * num_test
    return [session(number, split) for number, split in enumerate(splits)]


def _turn(place: int, role: Role, text: str, reaction: Reaction | None) -> SessionTurn:
    return SessionTurn(place, role, text, 2.0 * place, 2.0 * place + 1.5, reaction)
