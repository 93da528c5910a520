"""From points of a survey question to the numbers that rewards add up to, and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from drl.errors import DataError
from drl.turn_reward.settings import ObjectiveSettings


@dataclass(frozen=True, kw_only=True)
class ScoreScaling:
    """A score R in points is learned as (R - centre) / scale, and is what turns amount to.

    `total`: turns add up to it, or it is their mean. `length`: how many turns a session is taken
    to have in a sum; None: as many as it has.
    """

    centre: float
    scale: float
    total: Literal["sum", "mean"]
    length: int | None

    def size(self, num_turns: int) -> float:
        """How many mean rewards a session amounts to."""
        if self.total == "mean":
            return 1.0
        return float(self.length or num_turns)

    def points(self, rewards: Sequence[float] | np.ndarray) -> float:
        """The session score that the rewards of its agent turns tell, in points."""
        total = float(np.mean(rewards)) * self.size(len(rewards))
        return self.centre + self.scale * total


def score_scaling(
    settings: ObjectiveSettings, scores: Sequence[float], score_range: tuple[float, float]
) -> ScoreScaling:
    """The scaling that the training part asks for.

    Args:
        settings: say how.
        scores: of the training sessions, in points, without missing ones.
        score_range: the lowest and highest answer that the question allows.

    Raises:
        DataError: there are no scores, though the objective reads them, or all are equal.
    """
    centre, scale = 0.0, 1.0 / settings.unit
    if settings.normalise == "divide_by_scale":
        scale = score_range[1]
    elif settings.normalise != "none" and len(scores):
        known = np.asarray(scores, dtype=np.float64)
        if settings.normalise == "zscore":
            centre, scale = float(known.mean()), float(known.std())
        else:
            centre, scale = float(known.min()), float(np.ptp(known))
    if settings.session != "none" and not len(scores):
        raise DataError(
            "no training session has a score, but the objective reads them; choose another "
            "dataset.target, or trainer.objective.session=none"
        )
    if scale == 0.0:
        if settings.session != "none":
            raise DataError(
                f"all {len(scores)} training scores are {centre:g}, so there is nothing to learn "
                "from them; choose another dataset.target, or more conversations"
            )
        scale = 1.0
    return ScoreScaling(centre=centre, scale=scale, total=settings.total, length=settings.length)
