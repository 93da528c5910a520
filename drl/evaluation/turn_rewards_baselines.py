"""What needs no model to tell turn rewards: any method must beat these to have learned from words.

A constant spreads the training mean evenly. `turn_length` and `turn_index` see one number of each
turn, how long it is or its place in the session. Each gets the best of both signals: the session
score is told from the mean of that number by least squares, and the differences between turns of
one session by least squares on the labels. The oracle knows the hidden rewards instead.

Axes: T agent turns of one session.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from drl.errors import DataError
from drl.evaluation.turn_rewards import HeldOut, Measured, Observed, measure

Floats = NDArray[np.float64]

CONSTANT = "constant"
ORACLE = "oracle"

FEATURES: Mapping[str, Callable[[Observed], Floats]] = {
    "turn_length": lambda session: np.asarray(session.lengths, dtype=np.float64),
    "turn_index": lambda session: np.arange(len(session.labels), dtype=np.float64),
}


def baselines(
    training: Sequence[Observed], held_out: Sequence[Observed], seed: int
) -> Mapping[str, Mapping[str, Measured]]:
    """The measures of each baseline by its name, and of the oracle where hidden rewards are known.

    The oracle's two numbers (of the line from mean hidden reward to score) are fitted to the
    held-out sessions themselves: it is a ceiling, not a method.

    Raises:
        DataError: there is no session to learn from, or none held out.
    """
    if not training:
        raise DataError(
            "no session to fit baselines on: every session is held out; lower "
            "dataset.division.test_share"
        )
    training_mean = float(np.mean([session.score for session in training]))

    def measured(predict: Callable[[Observed], HeldOut]) -> Mapping[str, Measured]:
        return measure([predict(session) for session in held_out], training_mean, seed)

    found = {CONSTANT: measured(lambda session: _spread(session, training_mean))}
    for name, feature in FEATURES.items():
        found[name] = measured(_fitted(training, feature))
    if all(session.hidden is not None for session in held_out):
        found[ORACLE] = measured(_oracle(held_out))
    return found


def _spread(session: Observed, total: float) -> HeldOut:
    """A score in equal parts."""
    parts = np.full((1, len(session.labels)), total / len(session.labels))
    return HeldOut(observed=session, rewards=parts, totals=np.array([total]))


def _fitted(
    training: Sequence[Observed], feature: Callable[[Observed], Floats]
) -> Callable[[Observed], HeldOut]:
    line = _line([feature(s).mean() for s in training], [s.score for s in training])
    within = _slope_within(training, feature)

    def predict(session: Observed) -> HeldOut:
        seen = feature(session)
        total = line[0] + line[1] * seen.mean()
        parts = total / len(seen) + within * (seen - seen.mean())
        return HeldOut(observed=session, rewards=parts[None], totals=np.array([total]))

    return predict


def _slope_within(training: Sequence[Observed], feature: Callable[[Observed], Floats]) -> float:
    """Of labels over the feature, both less their mean in the session; 1 where none is seen."""
    joint = spread = 0.0
    for session in training:
        is_seen = np.isfinite(session.labels)
        if is_seen.any():
            seen = feature(session)[is_seen]
            labels = session.labels[is_seen]
            joint += float(((seen - seen.mean()) * (labels - labels.mean())).sum())
            spread += float(((seen - seen.mean()) ** 2).sum())
    return joint / spread if spread > 0 else 1.0


def _oracle(held_out: Sequence[Observed]) -> Callable[[Observed], HeldOut]:
    line = _line([_hidden(s).mean() for s in held_out], [s.score for s in held_out])

    def predict(session: Observed) -> HeldOut:
        parts = _hidden(session)
        total = np.array([line[0] + line[1] * parts.mean()])
        return HeldOut(observed=session, rewards=parts[None], totals=total)

    return predict


def _hidden(session: Observed) -> Floats:
    assert session.hidden is not None, "the oracle is asked only where they are known"
    return np.asarray(session.hidden, dtype=np.float64)


def _line(seen: Sequence[float], true: Sequence[float]) -> tuple[float, float]:
    """Intercept and slope by least squares; level where all that is seen is equal."""
    x, y = np.array(seen), np.array(true)
    spread = float(((x - x.mean()) ** 2).sum())
    slope = float(((x - x.mean()) * (y - y.mean())).sum()) / spread if spread > 0 else 0.0
    return float(y.mean()) - slope * float(x.mean()), slope
