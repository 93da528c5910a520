"""From marks between -1 and 1 to rewards that amount to the session's score.

With R the score in points, z = (R - centre) / scale as the model learns it, m_t the mark of turn t
of T, and n the mean rewards that a session amounts to (`ScoreScaling.size`: T for sums, 1 for
means), so that mean reward times n is z:

- `affine`: r_t = (z + spread (m_t - mean m)) / n. A mark of 1 above the others is worth `spread`
  standard deviations of the score, spread over the turns as the score is.
- `softmax`: the points above the question's lowest answer are shared out by
  p_t = softmax(sharpness m)_t, and then centred like the score:
  r_t = ((R - lowest) T p_t - (centre - lowest)) / (scale n).

Both amount to z exactly, whatever the marks are. Where the judge did not see the score there is
nothing to amount to: r_t = spread m_t / n, so that the judge tells the score itself.

Axes: T agent turns of one session.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from drl.labelling.settings import LabelSettings
from drl.turn_reward.scaling import ScoreScaling

Floats = NDArray[np.float64]


def rewards(
    marks: Floats,
    score: float | None,
    settings: LabelSettings,
    scaling: ScoreScaling,
    lowest: float,
) -> Floats:
    """float [T]: the rewards of a session by its marks, in the model's scale.

    Args:
        marks: float [T].
        score: in points; None where the judge did not see it.
        settings: the rule.
        scaling: how scores are learned.
        lowest: the lowest answer that the question allows, in points.
    """
    num = len(marks)
    size = scaling.size(num)
    if score is None:
        return settings.spread * marks / size
    if settings.rule == "affine":
        target = (score - scaling.centre) / scaling.scale
        return (target + settings.spread * (marks - marks.mean())) / size
    weights = np.exp(settings.sharpness * (marks - marks.max()))
    shares = weights / weights.sum()
    points = (score - lowest) * num * shares - (scaling.centre - lowest)
    return points / (scaling.scale * size)


def uniform(num: int, score: float | None, scaling: ScoreScaling) -> Floats:
    """float [T]: the score in equal parts, for a session that no judge could mark."""
    target = 0.0 if score is None else (score - scaling.centre) / scaling.scale
    return np.full(num, target / scaling.size(num))
