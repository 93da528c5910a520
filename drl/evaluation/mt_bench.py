"""What the judgments of a set of questions amount to, by category and turn.

The numbers are those of FastChat 0.2.36: ratings are averaged over all judged turns, and
comparisons give shares of wins, ties and losses, a tie counting half in the adjusted share. What
could not be judged is left out of every mean and counted. Trials of one question are averaged
first. Intervals, which FastChat does not give, are bootstrapped over questions, so the turns of one
stay together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.stats import bootstrap

from drl.evaluation.intervals import CONFIDENCE, NUM_RESAMPLES, Estimate, to_json
from drl.types import JSON

Outcome = Literal["win", "tie", "loss"]

_Values = Mapping[tuple[str, int], Sequence[float]]
"""(question, turn) -> a value for each trial."""


@dataclass(frozen=True, slots=True)
class Mark:
    """What a judge said of one turn of one trial: a rating in points, or how a comparison ended.

    None: it could not be judged.
    """

    question: str
    category: str
    turn: int
    trial: int
    points: float | None = None
    outcome: Outcome | None = None
    agrees: bool | None = None
    """Whether both orders of a comparison gave the same."""

    @property
    def is_judged(self) -> bool:
        """Whether there is a verdict."""
        return self.points is not None or self.outcome is not None


def pooled(values: _Values) -> Estimate | None:
    """The mean over all turns of all questions; its interval is over questions.

    A question of which only one turn has a value counts once, one with two turns twice: as in
    FastChat, whose mean is over turns. `n` is the number of questions. None without a value.
    """
    by_question: dict[str, list[float]] = defaultdict(list)
    for (question, _), trials in sorted(values.items()):
        if len(trials):
            by_question[question].append(float(np.mean(trials)))
    if not by_question:
        return None
    sums = np.array([sum(turns) for turns in by_question.values()])
    counts = np.array([len(turns) for turns in by_question.values()], dtype=float)
    mean = float(sums.sum() / counts.sum())
    if np.ptp(sums / counts) == 0:
        return Estimate(mean, mean, mean, len(sums))
    interval = bootstrap(
        (sums, counts),
        lambda some, their, axis: some.sum(axis=axis) / their.sum(axis=axis),
        paired=True,
        vectorized=True,
        n_resamples=NUM_RESAMPLES,
        confidence_level=CONFIDENCE,
        method="percentile",
        rng=np.random.default_rng(0),
    ).confidence_interval
    return Estimate(mean, float(interval.low), float(interval.high), len(sums))


def ratings(marks: Iterable[Mark]) -> dict[str, JSON]:
    """Mean ratings in points: of all turns, of each turn, of each category, and of its turns."""
    rated = [mark for mark in marks if mark.points is not None]
    return _tables(rated, "mean_points", lambda mark: mark.points)


def comparisons(marks: Iterable[Mark]) -> dict[str, JSON]:
    """Shares of wins, ties and losses, and the adjusted share of wins by category and turn.

    `agreement` is the share of comparisons in which both orders gave the same: where it is low, the
    place of an answer decides.
    """
    matched = [mark for mark in marks if mark.outcome is not None]
    shares: dict[str, JSON] = {}
    for name, outcome in (("win_rate", "win"), ("tie_rate", "tie"), ("loss_rate", "loss")):
        shares[name] = to_json(_pooled_of(matched, lambda m, o=outcome: float(m.outcome == o)))
    shares["agreement"] = to_json(_pooled_of(matched, lambda mark: float(bool(mark.agrees))))
    worth = {"win": 1.0, "tie": 0.5, "loss": 0.0}
    return shares | _tables(
        matched, "adjusted_win_rate", lambda mark: mark.outcome and worth[mark.outcome]
    )


def _tables(
    marks: Sequence[Mark], name: str, value_of: Callable[[Mark], float | None]
) -> dict[str, JSON]:
    turns = sorted({mark.turn for mark in marks})
    categories = list(dict.fromkeys(mark.category for mark in marks))

    def by_turn(some: Sequence[Mark]) -> dict[str, JSON]:
        return {
            f"turn_{turn}": to_json(_pooled_of([m for m in some if m.turn == turn], value_of))
            for turn in turns
        }

    per_category: dict[str, JSON] = {}
    for category in categories:
        within = [mark for mark in marks if mark.category == category]
        per_category[category] = {**by_turn(within), "both": to_json(_pooled_of(within, value_of))}
    return {
        name: to_json(_pooled_of(marks, value_of)),
        "per_turn": by_turn(marks),
        "per_category": per_category,
    }


def _pooled_of(marks: Iterable[Mark], value_of: Callable[[Mark], float | None]) -> Estimate | None:
    values: dict[tuple[str, int], list[float]] = defaultdict(list)
    for mark in marks:
        value = value_of(mark)
        if value is not None:
            values[mark.question, mark.turn].append(value)
    return pooled(values)
