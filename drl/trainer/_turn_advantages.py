"""How much better each turn was than what other dialogues of its task let expect; no critic.

With G_t the return of a dialogue from turn t on and E_t what it earned before, its turns have

    dialogue:  A_t = G_t - (mean of the others' totals - E_t)
    turn:      A_t = G_t - (mean of the others' returns from their own turn t on)

where a dialogue that is over returns 0. What is taken off depends on the other dialogues and on the
past of this one, never on turn t or what follows, so neither biases the gradient. `dialogue` takes
for granted that what was earned already need not be earned again; G_t + E_t is the total, so all
turns of a dialogue have one advantage. `turn` credits nothing with what came before it, but expects
nothing of a turn that no other dialogue reached. Neither divides by a deviation per turn: which
dialogues get as far as turn t is the policy's doing, so that would weigh its choices unequally.

Axes: N tokens, D turns, B dialogues, T turns of the longest. Imports torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from drl.errors import ConfigError
from drl.ops.returns import leave_one_out_means, returns_to_go
from drl.ppo.advantages import EQUAL, by_trajectory
from drl.ppo.layout import Layout
from drl.ppo.trajectory import Trajectory, group_numbers

Baseline = Literal["dialogue", "turn"]


class TokenAdvantages(NamedTuple):
    """Of the tokens of a batch, float [N]; `used_N` is bool, False where nothing is compared.

    `num_unused_turns` have no other dialogue of their task to be compared with.
    """

    advantages_N: Tensor
    used_N: Tensor
    num_unused_turns: int

    @property
    def differ(self) -> bool:
        """Whether any token was better or worse than expected."""
        return bool((self.used_N & (self.advantages_N.abs() > EQUAL)).any())


def advantages_of(
    trajectories: Sequence[Trajectory], layout: Layout, baseline: Baseline
) -> TokenAdvantages:
    """Advantages of turns, spread over their tokens; those that the credit gave are kept.

    Each is multiplied by the weight of its turn over the mean weight of the tokens that are used,
    so that a mean over tokens is the weighted one.

    Args:
        trajectories: dialogues.
        layout: of them, by turns.
        baseline: what a dialogue is compared by.

    Raises:
        ConfigError: dialogues that are compared share a turn.
    """
    given_D = torch.tensor(
        [float("nan") if given is None else given for given in layout.decision_advantage]
    )
    compared_D = torch.full_like(given_D, torch.nan)
    if given_D.isnan().any():
        _check_apart(trajectories)
        compared_D = _compared(trajectories, layout, baseline)
    advantages_D = torch.where(given_D.isnan(), compared_D, given_D)
    decision_N = torch.tensor(layout.token_decision, dtype=torch.long)
    used_N = advantages_D.isfinite()[decision_N]
    weights_N = torch.tensor(layout.decision_weight)[decision_N]
    mean_weight = weights_N[used_N].mean() if used_N.any() else 1.0
    weighted_N = advantages_D[decision_N] * weights_N / mean_weight
    return TokenAdvantages(
        torch.where(used_N, weighted_N, 0.0), used_N, int((~advantages_D.isfinite()).sum())
    )


def _compared(trajectories: Sequence[Trajectory], layout: Layout, baseline: Baseline) -> Tensor:
    """Advantages by other dialogues of the task, float [D]; NaN where there is none."""
    groups_B = torch.tensor(group_numbers(trajectories))
    rows = by_trajectory(layout, torch.device("cpu"))
    rewards_BT = torch.tensor(layout.rewards)[rows.decisions_BT]
    nothing_B = torch.zeros(len(trajectories))
    returns_BT = returns_to_go(rewards_BT, rows.mask_BT, 1.0, nothing_B)
    if baseline == "dialogue":
        totals_B = returns_BT[:, 0]
        advantages_BT = (totals_B - leave_one_out_means(totals_B, groups_B))[:, None]
    else:
        others = [leave_one_out_means(returns_B, groups_B) for returns_B in returns_BT.unbind(1)]
        advantages_BT = returns_BT - torch.stack(others, dim=1)
    return advantages_BT.expand(rows.mask_BT.shape)[rows.mask_BT]


def _check_apart(trajectories: Sequence[Trajectory]) -> None:
    """Refuse dialogues of one tree that parted after a turn of the agent.

    What the others earned then depends on a turn that they share, and says nothing about it.
    """
    owner: dict[int, int] = {}
    for number, trajectory in enumerate(trajectories):
        for turn in trajectory.turns:
            for call in turn.calls:
                if owner.setdefault(id(call), number) != number:
                    raise ConfigError(
                        "credit compares dialogues with one another that share turns, as those of "
                        "one tree do, which is biased; set credit=tree, or rollout=single"
                    )
