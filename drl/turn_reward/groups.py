"""Members whose losses are computed together, with what each of them takes for true.

Axes: G members of one group, B sessions, N turns, R truths that differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import torch

from drl.errors import DataError
from drl.turn_reward.member import Member
from drl.turn_reward.objectives import Known
from drl.turn_reward.ragged import Corpus
from drl.turn_reward.scaling import ScoreScaling
from drl.turn_reward.settings import ObjectiveSettings


def group_members(
    corpus: Corpus, members: Sequence[Member], scalings: Sequence[ScoreScaling]
) -> Iterator[Group]:
    """All members in groups; `scalings` are theirs, in order.

    Raises:
        DataError: an objective reads what no training session has.
    """
    numbers: dict[ObjectiveSettings, list[int]] = {}
    for number, member in enumerate(members):
        # the weight alone may differ within a group
        key = replace(member.objective, session_weight=1.0)
        numbers.setdefault(key, []).append(number)
    for settings, mine in numbers.items():
        yield Group(settings, mine, members, corpus, scalings)


class Group:
    """Members whose objectives differ in the weight of the session loss at most."""

    def __init__(
        self,
        settings: ObjectiveSettings,
        numbers: list[int],
        members: Sequence[Member],
        corpus: Corpus,
        scalings: Sequence[ScoreScaling],
    ) -> None:
        mine = [members[number] for number in numbers]
        self.settings = settings
        self.numbers = numbers
        self._scores_GB = np.stack(
            [
                (member.truth.scores_B - scalings[number].centre) / scalings[number].scale
                for number, member in zip(numbers, mine, strict=True)
            ]
        )
        # truths are shared by many seeds, and turns are many
        rows = {id(member.truth): member for member in mine}
        self._local_RN = np.stack([member.local(corpus) for member in rows.values()])
        self._row_G = [list(rows).index(id(member.truth)) for member in mine]
        places = corpus.places(corpus.train)
        if settings.local != "none" and np.isnan(self._local_RN[:, places]).all():
            raise DataError(
                f"no training turn has one of the {settings.local} that the objective reads; "
                "choose another dataset.labels.rule, or trainer.objective.local=none"
            )

    def known(self, corpus: Corpus, sessions: Sequence[int]) -> Known:
        """What these members take for true of some sessions."""
        scores = torch.from_numpy(self._scores_GB[:, list(sessions)])
        local = torch.from_numpy(self._local_RN[:, corpus.places(sessions)])[self._row_G]
        return Known(scores.to(corpus.device, corpus.dtype), local.to(corpus.device, corpus.dtype))
