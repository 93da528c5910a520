"""One episode as it was: exact tokens, rewards step by step, and what a policy learns from them.

Axes: S candidates, T steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from drl.ppo.trajectory import Trajectory, TurnRecord
from drl.types import Sampled


@dataclass(frozen=True, slots=True)
class Episode:
    """The candidates of one prompt.

    `rewards` are float64 `[S]`, one for each step. `is_paid` says whether the last of them were
    told `finish`; `goes_on` which candidates were cut while they could have written more.
    """

    texts: tuple[Sampled, ...]
    rewards: Sequence[np.ndarray]
    is_paid: bool
    goes_on: tuple[bool, ...]

    def __len__(self) -> int:
        """Steps: TextRL counts positions, whatever the number of candidates."""
        return len(self.rewards)

    def token_rewards(self) -> list[list[float]]:
        """What each token of each candidate earned.

        A candidate that ended before the others gets what is paid at `finish` at its own last
        token; what was paid while it waited belongs to no token, and is left out.
        """
        rewards_TS = np.stack(self.rewards)
        rows = []
        for place, text in enumerate(self.texts):
            row = rewards_TS[: len(text.token_ids), place].tolist()
            if self.is_paid and len(self) > len(row):
                row[-1] += float(rewards_TS[-1, place])
            rows.append(row)
        return rows

    @property
    def score(self) -> float:
        """What a candidate earned in all, on average."""
        return sum(map(sum, self.token_rewards())) / len(self.texts)

    def trajectories(self, group: str, *, can_go_on: bool) -> list[Trajectory]:
        """The candidates for the learner, which are compared within their group.

        Args:
            group: a name for the episode.
            can_go_on: whether prompt and text together are a prompt, as for causal models; then the
                value there stands for what a cut candidate had yet to earn.
        """
        made = []
        rows = zip(self.texts, self.token_rewards(), self.goes_on, strict=True)
        for text, rewards, goes_on in rows:
            turn = TurnRecord((text,), 0.0, token_rewards=(tuple(rewards),))
            is_bootstrapped = can_go_on and goes_on and not self.is_paid
            after = (*text.prompt_ids, *text.token_ids) if is_bootstrapped else None
            made.append(Trajectory((turn,), group, after))
        return made
