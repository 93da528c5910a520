"""Sessions as arrays: embeddings, scores and labels to learn from, and what evaluation looks at.

Axes: B sessions, N agent turns of all of them, T of one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from drl.errors import DataError
from drl.runtime.seeds import derive
from drl.turn_reward.ragged import Corpus, Truth

if TYPE_CHECKING:
    from drl.evaluation.turn_rewards_controls import Shuffled
    from drl.turn_reward.embed import Embedded
    from drl.turn_reward.session import Session


@dataclass(frozen=True, eq=False)
class Material:
    """What there is to learn from. `numbers` are places in `sessions`, by split."""

    sessions: Sequence[Session]
    corpus: Corpus
    truth: Truth
    numbers: Mapping[str, Sequence[int]]

    def of(self, split: str) -> list[Session]:
        """The sessions of a split, in order."""
        return [self.sessions[number] for number in self.numbers[split]]

    def shuffled(self, kind: Shuffled, seed: int) -> Truth:
        """What is taken for true where scores or reactions were shuffled within each split."""
        truth = self.truth
        for split, numbers in self.numbers.items():
            rng = np.random.default_rng(derive(seed, kind, split))
            if kind != "shuffled_faces":
                places = np.asarray(numbers, dtype=int)
                truth = replace(truth, scores_B=_shuffled(truth.scores_B, places, rng))
            if kind != "shuffled_scores" and numbers:
                places = self.corpus.places(numbers)
                truth = replace(
                    truth,
                    labels_N=_shuffled(truth.labels_N, places, rng),
                    targets_N=_shuffled(truth.targets_N, places, rng),
                )
        return truth


def usable(sessions: Sequence[Session]) -> list[Session]:
    """Sessions in which the agent spoke, and that have a score or a label.

    Raises:
        DataError: there is none to learn from, or none held out.
    """
    found = [session for session in sessions if session.agent_turns and _says_something(session)]
    remedies = {
        "train": "bring more conversations (dataset.root), ask less of them (dataset.filters), or "
        "hold fewer out (dataset.division.test_share, .drop_shared)",
        "test": "hold more out: dataset.division.test_share=0.3, or name them by "
        "dataset.division.by=position and 'dataset.division.positions={train:[0,8],test:[8,null]}'",
    }
    for split, remedy in remedies.items():
        if not any(session.split == split for session in found):
            raise DataError(
                f"none of {len(sessions)} sessions is left in {split}, with a turn of the agent "
                f"and a score or a label; {remedy}"
            )
    return found


def material(
    sessions: Sequence[Session],
    embedded: Embedded,
    targets: Mapping[str, np.ndarray],
    device: str,
) -> Material:
    """The arrays of sessions, their embeddings left where they lie.

    Args:
        sessions: each with a turn of the agent.
        embedded: of all of them.
        targets: float [T] by session id, of those that have any.
        device: on which heads learn.
    """
    numbers = {
        split: [place for place, session in enumerate(sessions) if session.split == split]
        for split in ("train", "val", "test")
    }
    corpus = Corpus(
        [embedded.of(session.id) for session in sessions],
        train=numbers["train"],
        val=numbers["val"],
        device=device,
    )
    nothing = [np.full(len(session.agent_turns), np.nan) for session in sessions]
    given = zip(sessions, nothing, strict=True)
    truth = Truth(
        scores_B=np.array([_number(session.score) for session in sessions]),
        labels_N=np.concatenate([labels_of(session) for session in sessions]),
        targets_N=np.concatenate([targets.get(session.id, none) for session, none in given]),
    )
    return Material(sessions, corpus, truth, numbers)


def labels_of(session: Session) -> np.ndarray:
    """How the listener took each agent turn, float [T]; NaN where nobody saw."""
    reactions = [session.turns[place].reaction for place in session.agent_turns]
    return np.array(
        [_number(None if reaction is None else reaction.label) for reaction in reactions]
    )


def _says_something(session: Session) -> bool:
    return session.score is not None or not np.isnan(labels_of(session)).all()


def _number(value: float | None) -> float:
    return np.nan if value is None else float(value)


def _shuffled(values: np.ndarray, places: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The known values at these places in another order; unknown ones stay where they are."""
    found = values.copy()
    known = places[~np.isnan(values[places])]
    found[known] = values[rng.permutation(known)]
    return found
