"""How well turn rewards fit sessions that they were not learned from.

Every measure comes with an interval: conversations are drawn with replacement (both sessions of
one come together, since they are not independent), and so are the seeds of training. A measure is
taken for each seed by itself and then averaged, so that it is that of one model, not of a vote.

Axes: S seeds, N sessions, T agent turns of one session, C conversations, R resamples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from drl.errors import DataError
from drl.evaluation.intervals import CONFIDENCE, Estimate
from drl.evaluation.turn_rewards_measures import Draw, measures_of_seed
from drl.runtime.seeds import derive
from drl.types import JSON

Floats = NDArray[np.float64]

NUM_RESAMPLES = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """What is known of a session beside any model.

    `labels` float [T]: how the listener took each agent turn, about -1 to 1; NaN where nobody saw.
    `lengths` [T]: of the turns' texts, in any unit. `hidden` float [T]: true rewards, where the
    data were generated. `score` is scaled as the model's totals are.
    """

    session_id: str
    conversation_id: str
    score: float
    labels: Floats
    lengths: Floats
    hidden: Floats | None = None

    def __post_init__(self) -> None:
        """Refuse turns that do not match."""
        hidden = self.labels if self.hidden is None else self.hidden
        if not len(self.labels) == len(self.lengths) == len(hidden) >= 1:
            raise DataError(
                f"session {self.session_id}: {len(self.labels)} labels, {len(self.lengths)} "
                f"lengths and {len(hidden)} hidden rewards must be one for each of its turns"
            )
        if not np.isfinite(self.score):
            raise DataError(f"session {self.session_id}: score {self.score} is no number")


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOut:
    """A session and what models that never saw it make of it.

    `rewards` float [S, T]: one model for each seed, the same seeds in all sessions.
    `totals` float [S]: the session score that the model tells, its rewards added up or averaged.
    """

    observed: Observed
    rewards: Floats
    totals: Floats

    def __post_init__(self) -> None:
        """Refuse rewards that do not match the turns."""
        expected = (len(self.totals), len(self.observed.labels))
        if self.rewards.shape != expected:
            raise DataError(
                f"session {self.observed.session_id}: rewards have the shape {self.rewards.shape}, "
                f"but {expected[0]} seeds and {expected[1]} agent turns need {expected}"
            )
        if not (np.isfinite(self.rewards).all() and np.isfinite(self.totals).all()):
            raise DataError(
                f"session {self.observed.session_id}: a reward is no number; the model diverged, "
                "lower its learning rate"
            )


@dataclass(frozen=True, slots=True)
class Measured:
    """A measure: its value for each seed [S], for each resample [R], and over how many it is.

    `n` counts the conversations that it could be told for.
    """

    by_seed: tuple[float, ...]
    resampled: Floats
    n: int

    @property
    def value(self) -> float:
        """The mean over seeds."""
        return float(np.mean(self.by_seed))

    @property
    def estimate(self) -> Estimate:
        """The mean over seeds with its percentile interval."""
        tail = 50 * (1 - CONFIDENCE)
        low, high = np.nanpercentile(self.resampled, [tail, 100 - tail])
        return Estimate(self.value, float(low), float(high), self.n)

    def minus(self, other: Measured) -> Measured:
        """The difference, resample by resample: both must be of the same sessions and seed."""
        pairs = zip(self.by_seed, other.by_seed, strict=True)
        return Measured(
            tuple(mine - its for mine, its in pairs),
            self.resampled - other.resampled,
            min(self.n, other.n),
        )


def evaluate(
    held_out: Sequence[HeldOut], training_mean: float, seed: int
) -> Mapping[str, Estimate]:
    """All measures that can be told; see `measure`."""
    measured = measure(held_out, training_mean, seed)
    return {name: found.estimate for name, found in measured.items()}


def measure(held_out: Sequence[HeldOut], training_mean: float, seed: int) -> Mapping[str, Measured]:
    """All measures of `drl.evaluation.turn_rewards_measures` that can be told, by name.

    Left out is what nothing was seen for: labels, hidden rewards.

    Args:
        held_out: sessions that no part of the models was learned or chosen on.
        training_mean: mean score of the training sessions, which a constant prediction says.
        seed: of the resampling. Calls with the same seed and conversations draw the same
            conversations, whatever the model: differences between models are paired.

    Raises:
        DataError: nothing is held out, or sessions have unequal numbers of seeds.
    """
    num_seeds = {len(session.totals) for session in held_out}
    if len(num_seeds) != 1:
        raise DataError(
            f"{len(held_out)} held-out sessions with {sorted(num_seeds)} seeds: there must be at "
            "least one session, and all must be scored by the same models; raise "
            "dataset.division.test_share"
        )
    # by id: the order in which sessions come must not show in the resampling
    ordered = sorted(held_out, key=lambda session: session.observed.session_id)
    draw = _draw(ordered, seed)
    each = [
        measures_of_seed(
            [session.observed.score for session in ordered],
            [float(session.totals[s]) for session in ordered],
            [session.rewards[s] for session in ordered],
            [session.observed.labels for session in ordered],
            [session.observed.hidden for session in ordered],
            training_mean,
            draw,
        )
        for s in range(num_seeds.pop())
    ]
    shares = _seed_shares(len(each), seed)
    return {
        name: Measured(
            tuple(float(found[name].values[0]) for found in each),
            _mixed(np.stack([found[name].values[1:] for found in each]), shares),
            first.n,
        )
        for name, first in each[0].items()
        if all(np.isfinite(found[name].values[0]) for found in each)
    }


def to_json(measured: Mapping[str, Measured]) -> dict[str, JSON]:
    """Measures as `summary.json` holds them: value, interval, conversations, and each seed."""
    return {
        name: {**asdict(found.estimate), "by_seed": list(found.by_seed)}
        for name, found in measured.items()
    }


def _draw(held_out: Sequence[HeldOut], seed: int) -> Draw:
    """How often each conversation counts: once in the first row, by chance in all others."""
    names = sorted({session.observed.conversation_id for session in held_out})
    place = {name: position for position, name in enumerate(names)}
    rng = np.random.default_rng(derive(seed, "held-out conversations"))
    chances = np.full(len(names), 1 / len(names))
    drawn = rng.multinomial(len(names), chances, size=NUM_RESAMPLES).astype(np.float64)
    return Draw(
        counts=np.concatenate([np.ones((1, len(names))), drawn]),
        conversation=np.array([place[session.observed.conversation_id] for session in held_out]),
    )


def _seed_shares(num_seeds: int, seed: int) -> Floats:
    """float [R, S]: the weight of each seed in each resample."""
    rng = np.random.default_rng(derive(seed, "seeds of training"))
    chances = np.full(num_seeds, 1 / num_seeds)
    return rng.multinomial(num_seeds, chances, size=NUM_RESAMPLES) / num_seeds


def _mixed(values_SR: Floats, shares_RS: Floats) -> Floats:
    return np.einsum("sr,rs->r", values_SR, shares_RS)
