"""The measures of turn rewards on held-out sessions, for many resamples of conversations at once.

| name | what it tells |
|---|---|
| global_mse | squared gap between told and true session score, L_GE of GELI (arXiv:2403.11330) |
| constant_mse | the same for whoever always says the training mean |
| r2_session | 1 - global_mse / constant_mse: above 0 is better than that constant |
| spearman_session | whether sessions are put in the right order |
| calibration_slope | of true over told scores: 1 is right, less is overconfident |
| error_length_correlation | of told less true score with the number of turns; sums carry one |
| local_difference | GELI's reward difference: positive turns less all others, within sessions |
| local_difference_sd | the same in standard deviations of the session's rewards |
| auroc_positive | chance that a positive turn has a higher reward than another, over all turns |
| auroc_positive_within | the same among turns of one session, averaged over sessions |
| mean_positive, mean_neutral, mean_negative | rewards by label: mean of sessions' means |
| spearman_hidden | rank correlation with the true rewards within sessions, averaged over them |

GELI's difference is that of two means over sessions; here both are of the same sessions, so that
the level of those without a positive turn plays no part. Rewards of unequal scale (sums to a score,
labels from -1 to 1) compare by the measures of order and by `local_difference_sd` only.

Axes: N sessions, T turns of one session, C conversations, R resamples (the first is no resample).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from drl.evaluation import turn_rewards_weighted as weighted

Floats = NDArray[np.float64]

POSITIVE_ABOVE = 0.5
"""A label above is a positive reaction, one below its opposite a negative one: right for labels of
-1, 0, 1 and for shares of seconds that were happy."""


class Draw(NamedTuple):
    """How often each conversation was drawn, float [R, C], and that of each session, int [N]."""

    counts: Floats
    conversation: NDArray[np.int64]


class Values(NamedTuple):
    """A measure in each resample, float [R]; NaN where it cannot be told. Over n conversations."""

    values: Floats
    n: int


def measures_of_seed(
    scores: Sequence[float],
    totals: Sequence[float],
    rewards: Sequence[Floats],
    labels: Sequence[Floats],
    hidden: Sequence[Floats | None],
    training_mean: float,
    draw: Draw,
) -> Mapping[str, Values]:
    """All measures of one model; each argument holds one entry for each session.

    Args:
        scores: true session scores.
        totals: what the model tells instead.
        rewards: float [T] each.
        labels: float [T] each, NaN where unseen.
        hidden: float [T] each, or None where true rewards are unknown.
        training_mean: what a constant prediction says.
        draw: the resamples.
    """
    lengths = np.array([float(len(turns)) for turns in rewards])
    return {
        **_of_scores(np.array(scores), np.array(totals), lengths, training_mean, draw),
        **_of_labels(rewards, labels, draw),
        "spearman_hidden": _mean_over_sessions(
            [_order(got, true) for got, true in zip(rewards, hidden, strict=True)], draw
        ),
    }


def _of_scores(
    scores: Floats, totals: Floats, lengths: Floats, training_mean: float, draw: Draw
) -> Mapping[str, Values]:
    counts = draw.counts[:, draw.conversation]
    num = draw.counts.shape[1]
    told = weighted.mean((totals - scores) ** 2, counts)
    constant = weighted.mean((training_mean - scores) ** 2, counts)
    found = {
        "global_mse": told,
        "constant_mse": constant,
        "r2_session": 1 - weighted.ratio(told, constant),
        "spearman_session": weighted.rank_correlation(totals, scores, counts),
        "calibration_slope": weighted.slope(totals, scores, counts),
        "error_length_correlation": weighted.correlation(totals - scores, lengths, counts),
    }
    return {name: Values(values, num) for name, values in found.items()}


def _of_labels(
    rewards: Sequence[Floats], labels: Sequence[Floats], draw: Draw
) -> Mapping[str, Values]:
    pairs = list(zip(rewards, labels, strict=True))

    def over_sessions(tell: Callable[[Floats, Floats], float]) -> Values:
        return _mean_over_sessions([tell(got, seen) for got, seen in pairs], draw)

    return {
        "local_difference": over_sessions(_difference),
        "local_difference_sd": over_sessions(_difference_sd),
        "auroc_positive": _auroc_over_turns(rewards, labels, draw),
        "auroc_positive_within": over_sessions(_auroc),
        "mean_positive": over_sessions(lambda got, seen: _mean(got[seen > POSITIVE_ABOVE])),
        "mean_neutral": over_sessions(lambda got, seen: _mean(got[abs(seen) <= POSITIVE_ABOVE])),
        "mean_negative": over_sessions(lambda got, seen: _mean(got[seen < -POSITIVE_ABOVE])),
    }


def _mean_over_sessions(values: Sequence[float], draw: Draw) -> Values:
    """The mean over sessions that have a value."""
    known = np.array(values)
    told = np.unique(draw.conversation[np.isfinite(known)])
    return Values(weighted.mean(known, draw.counts[:, draw.conversation]), len(told))


def _difference(rewards: Floats, labels: Floats) -> float:
    positive, other = _classes(rewards, labels)
    return _mean(positive) - _mean(other)


def _difference_sd(rewards: Floats, labels: Floats) -> float:
    difference = _difference(rewards, labels)
    if np.isnan(difference):
        return difference
    is_flat = np.ptp(weighted.with_ties(rewards)) == 0
    return 0.0 if is_flat else difference / float(rewards.std())


def _auroc(rewards: Floats, labels: Floats) -> float:
    """Within one session; NaN where it has no positive turn or no other."""
    positive, other = _classes(weighted.with_ties(rewards), labels)
    above = positive[:, None] > other
    level = positive[:, None] == other
    return _mean((above + level / 2).ravel())


def _auroc_over_turns(rewards: Sequence[Floats], labels: Sequence[Floats], draw: Draw) -> Values:
    """Over the turns of all sessions together, those of one session among them."""
    seen = np.concatenate(labels)
    is_seen = np.isfinite(seen)
    values = weighted.with_ties(np.concatenate(rewards))[is_seen]
    is_positive = seen[is_seen] > POSITIVE_ABOVE
    turns = [len(turns) for turns in labels]
    conversation = np.repeat(draw.conversation, turns)[is_seen]
    num = draw.counts.shape[1]
    if not len(values):
        return Values(np.full(len(draw.counts), np.nan), 0)
    won = np.zeros((num, num))
    of_seen = weighted.pairs_won(values, is_positive, conversation)
    won[: len(of_seen), : len(of_seen)] = of_seen
    positives = np.bincount(conversation[is_positive], minlength=num)
    others = np.bincount(conversation[~is_positive], minlength=num)
    pairs = (draw.counts @ positives) * (draw.counts @ others)
    values = weighted.ratio(((draw.counts @ won) * draw.counts).sum(axis=1), pairs)
    return Values(values, len(np.unique(conversation)))


def _order(rewards: Floats, hidden: Floats | None) -> float:
    """Rank correlation within one session; NaN where the true rewards are unknown or all equal."""
    if hidden is None:
        return np.nan
    once = np.ones((1, len(rewards)))
    return float(weighted.rank_correlation(rewards, hidden, once)[0])


def _classes(rewards: Floats, labels: Floats) -> tuple[Floats, Floats]:
    """Rewards of positive turns and of all others that were seen."""
    is_positive = labels > POSITIVE_ABOVE
    return rewards[is_positive], rewards[~is_positive & np.isfinite(labels)]


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else np.nan
