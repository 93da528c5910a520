"""In which unit rewards of a turn reward model are paid and told: how far apart it finds people."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING

from drl.errors import DataError
from drl.trainer._policy_replies import Said, human_reply_to
from drl.types import Task

if TYPE_CHECKING:
    from drl.turn_reward.model import TurnRewardModel

_HUMAN_REPLIES = 512
"""How many tell how far rewards spread, about."""

_ALIKE = 1e-9
"""Deviations below this are rounding."""


def unit_of(model: TurnRewardModel, tasks: Sequence[Task]) -> float:
    """The deviation of a model's rewards over what humans said in some of the contexts.

    Models differ in how far their rewards spread, and so does what a weight of the KL means beside
    them. It is rounded, so that it is the same where the last digits are not.

    Raises:
        ConfigError: the dataset does not tell what humans said.
        DataError: the model finds all of it alike.
    """
    some = tasks[:: max(1, len(tasks) // _HUMAN_REPLIES)]
    said = [Said(task, human_reply_to(task), is_cut=False).utterances for task in some]
    deviation = statistics.pstdev(model.rewards_of([(each, len(each) - 1) for each in said]))
    if deviation < _ALIKE:
        raise DataError(
            f"a turn reward model finds {len(some)} human replies alike (deviation {deviation:.2g})"
            ", so nothing can be learned from it; see the reports of stage-1 and stage-2, and train"
            " it longer or on more conversations"
        )
    return float(f"{deviation:.3g}")
