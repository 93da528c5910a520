"""What an update makes of the decisions of a batch. Axis: D decisions."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor


class Judged(NamedTuple):
    """How good decisions were: float [D] each but for `used_D`, bool [D].

    `rewards_D` hold penalties too. `advantages_D` are as they were estimated, `returns_D` what
    values should be. `used_D` says where there is an advantage at all (a group of one has no
    baseline), `weights_D` how much each counts.
    """

    rewards_D: Tensor
    advantages_D: Tensor
    returns_D: Tensor
    used_D: Tensor
    weights_D: Tensor
