"""What the tokens and values of a batch are to be moved by, through all steps of an update.

Axes: N tokens, D decisions.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import torch
from torch import Tensor

from drl.ppo.judged import Judged
from drl.ppo.layout import Layout


class Targets(NamedTuple):
    """Float [N] or [D] each.

    A minibatch's loss is the sum of its tokens' losses times `weights_N`, divided by the sum of
    `shares_N`; and that of values, times and divided by `value_weights_D`.
    """

    advantages_N: Tensor
    weights_N: Tensor
    shares_N: Tensor
    returns_D: Tensor
    value_weights_D: Tensor


def aim(layout: Layout, judged: Judged, mean_over: Literal["token", "turn", "dialogue"]) -> Targets:
    """Spread what was judged of decisions over their tokens.

    Args:
        layout: which token belongs to what.
        judged: the decisions.
        mean_over: what the loss is a mean over: each token counts once, or all tokens of a turn
            or dialogue count once together.
    """
    device = judged.weights_D.device
    decision_N = torch.tensor(layout.token_decision, dtype=torch.long, device=device)
    used_D = torch.where(judged.used_D, judged.weights_D, 0.0)
    weights_N = used_D[decision_N]
    shares_N = weights_N
    if mean_over != "token":
        owner = layout.token_turn if mean_over == "turn" else layout.token_trajectory
        owner_N = torch.tensor(owner, dtype=torch.long, device=device)
        shares_N = weights_N / owner_N.bincount()[owner_N]
    return Targets(
        judged.advantages_D[decision_N], weights_N, shares_N, judged.returns_D, judged.weights_D
    )
