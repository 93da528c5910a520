"""Settings and small worlds on which turn rewards are learned in tests."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from drl.turn_reward.ragged import Corpus, Truth
from drl.turn_reward.settings import HeadSettings, ObjectiveSettings, TrainingSettings

LINEAR = HeadSettings(
    kind="linear",
    hidden=6,
    cells=4,
    dropout=0.0,
    scalar_dropout=0.0,
    tanh=False,
    standardise=True,
)
RRD = ObjectiveSettings(
    session="rrd",
    local="none",
    session_weight=0.5,
    total="mean",
    length=None,
    normalise="zscore",
    unit=1.0,
    draws=4,
    replaced=False,
    unbiased=True,
    rudder_squared_mean=False,
    link="identity",
    local_drawn=False,
)
LI = replace(RRD, session="none", local="labels", unbiased=False)
TRAINING = TrainingSettings(
    epochs=60,
    batch_size=20,
    shuffle=True,
    learning_rate=0.1,
    schedule="linear",
    weight_decay=0.0,
    patience=None,
    select_by="joint",
    noisy_validation=False,
)


@dataclass(frozen=True)
class World:
    """Sessions whose turn rewards are a line in four inputs; labels are 1 above 0, less noise."""

    embeddings: list[np.ndarray]
    rewards: list[np.ndarray]
    truth: Truth

    def corpus(self, num_train: int = 80, num_val: int = 20, **options) -> Corpus:
        return Corpus(
            self.embeddings,
            train=range(num_train),
            val=range(num_train, num_train + num_val),
            **options,
        )


WEIGHTS = np.array([1.0, -2.0, 0.5, 0.0])


def world(*, total: str = "mean", seed: int = 0, noise: float = 0.0) -> World:
    """100 sessions for learning and 20 more, of 5 to 15 turns; scores around 5 points."""
    rng = np.random.default_rng(seed)
    embeddings = [rng.normal(size=(length, 4)) for length in rng.integers(5, 16, size=120)]
    rewards = [rows @ WEIGHTS for rows in embeddings]
    amount = np.mean if total == "mean" else np.sum
    scores = 5.0 + np.array([amount(each) for each in rewards]) + noise * rng.normal(size=120)
    labels = (np.concatenate(rewards) > 0).astype(float)
    return World(embeddings, rewards, Truth(scores, labels, np.full(len(labels), np.nan)))
