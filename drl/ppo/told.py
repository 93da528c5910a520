"""What an update tells of its steps: sums that are added up and divided once, at the end."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from drl.ppo.processes import summed

NAMES = (
    "tokens",
    "policy_loss",
    "clipped",
    "kl",
    "entropy",
    "ratio",
    "ratio_squared",
    "ratio_error",
    "values",
    "value_loss",
    "value_clipped",
)
"""Sums over the tokens or values of a minibatch; the policy's loss is a share of its mean."""


class Sums:
    """Named sums of one minibatch, on the device."""

    def __init__(self, device: torch.device) -> None:
        self._sums = torch.zeros(len(NAMES), device=device)

    def add(self, named: Mapping[str, Tensor]) -> None:
        """Add those of a micro-batch, under all of `NAMES`."""
        self._sums += torch.stack([named[name].detach().float() for name in NAMES])

    def over_processes(self) -> dict[str, float]:
        """The sums of all micro-batches of all processes."""
        return dict(zip(NAMES, summed(self._sums).tolist(), strict=True))


@dataclass(slots=True)
class Tally:
    """Adds up the minibatches of one update."""

    totals: dict[str, float] = field(default_factory=lambda: dict.fromkeys(NAMES, 0.0))
    first_ratio_error: float = math.nan
    num_minibatches: int = 0
    grad_norms: list[float] = field(default_factory=list)
    num_skipped: int = 0

    def add(self, sums: Mapping[str, float]) -> None:
        """One minibatch."""
        if not self.num_minibatches:
            self.first_ratio_error = sums["ratio_error"] / max(sums["tokens"], 1.0)
        self.num_minibatches += 1
        for name, value in sums.items():
            self.totals[name] += value

    def numbers(self, *, stopped_early: bool) -> dict[str, float]:
        """Means, under the names that TRL's PPO gave them where it had them."""
        totals = self.totals
        tokens, values = max(totals["tokens"], 1.0), max(totals["values"], 1e-8)
        ratio = totals["ratio"] / tokens
        norms = self.grad_norms
        return {
            "loss/policy_avg": totals["policy_loss"] / max(self.num_minibatches, 1),
            "loss/value_avg": totals["value_loss"] / values,
            "policy/approxkl_avg": totals["kl"] / tokens,
            "policy/clipfrac_avg": totals["clipped"] / tokens,
            "policy/entropy_avg": totals["entropy"] / tokens,
            "policy/first_ratio_error": self.first_ratio_error,
            "policy/grad_norm": sum(norms) / len(norms) if norms else 0.0,
            "val/ratio": ratio,
            "val/ratio_var": max(0.0, totals["ratio_squared"] / tokens - ratio**2),
            "val/clipfrac_avg": totals["value_clipped"] / values,
            "num_steps": float(len(norms)),
            "num_skipped_steps": float(self.num_skipped),
            "stopped_early": float(stopped_early),
        }
