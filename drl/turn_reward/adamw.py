"""AdamW over weights with a leading axis of members, each of which has a learning rate of its own.

torch's has one rate for all of a tensor; this one keeps a member apart from all others.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

BETAS = (0.9, 0.999)
EPSILON = 1e-8


class MemberAdamW:
    """Decoupled weight decay (arXiv:1711.05101), with torch's usual betas and epsilon.

    Args:
        params: float [M, ...] each; they are updated in place.
        learning_rate_M: float [M].
        weight_decay: times the learning rate, taken off every weight at each step.
    """

    def __init__(
        self, params: Mapping[str, Tensor], learning_rate_M: Tensor, weight_decay: float
    ) -> None:
        self._params = params
        self._rate_M = learning_rate_M
        self._weight_decay = weight_decay
        self._first = {name: torch.zeros_like(weight) for name, weight in params.items()}
        self._second = {name: torch.zeros_like(weight) for name, weight in params.items()}
        self._num_steps = 0

    @torch.no_grad()
    def step(self, gradients: Mapping[str, Tensor], share: float) -> None:
        """One update at this share of the learning rates."""
        self._num_steps += 1
        correct_1 = 1 - BETAS[0] ** self._num_steps
        correct_2 = 1 - BETAS[1] ** self._num_steps
        for name, gradient in gradients.items():
            weight, first, second = self._params[name], self._first[name], self._second[name]
            first.lerp_(gradient, 1 - BETAS[0])
            second.mul_(BETAS[1]).addcmul_(gradient, gradient, value=1 - BETAS[1])
            rate = share * self._rate_M.view(-1, *(1,) * (weight.dim() - 1))
            direction = (first / correct_1) / ((second / correct_2).sqrt() + EPSILON)
            weight.mul_(1 - rate * self._weight_decay).sub_(rate * direction)
