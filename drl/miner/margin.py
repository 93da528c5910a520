"""Pairs of outputs at which two tries part, where playing on has shown which try is the better.

`drl resample` gives each try a posterior of its chance of success, Beta(a, b). A pair is kept if
the chance of one is probably higher, and that probability weighs it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations

from drl.errors import ConfigError, DataError
from drl.miner._clean import is_clean, is_own
from drl.miner._dialogues import Dialogues
from drl.miner._pairs import Limits, Pair, parting, unbroken
from drl.miner._rows import preferred
from drl.miner.base import Form, Harvest, Miner, Row
from drl.tree.chance import Chance
from drl.tree.decisions import decisions
from drl.types import Failure

_QUANTILES = (1e-6, 1e-3, 0.1, 0.5, 0.9, 1 - 1e-3, 1 - 1e-6)
_NUM_POINTS = 40


@dataclass(kw_only=True)
class MarginMiner(Miner):
    """dpo: the pairs whose better try is better with a probability above `threshold`.

    The labels of the search are not asked. What is rejected may be an error; what is chosen may
    not.
    """

    forms = ("dpo",)
    needs_chances = True

    threshold: float
    max_per_node: int | None
    max_per_tree: int | None
    max_length_ratio: float | None

    def __post_init__(self) -> None:
        """Check the settings."""
        if not 0.5 < self.threshold < 1:
            raise ConfigError(
                f"miner.threshold={self.threshold} must lie between 0.5 and 1: it is a probability "
                "that the chosen try is better; 0.5 is a toss"
            )
        self._limits()

    def mine(self, harvest: Harvest, form: Form) -> Iterator[Row]:
        """The rows of one tree.

        Raises:
            DataError: the tree has tries side by side, but none was played on.
        """
        _check_resampled(harvest)
        dialogues = Dialogues(harvest)
        for pair in self._limits().keep(dialogues, self._pairs(dialogues)):
            yield preferred(dialogues, pair.better, pair.worse, pair.weight)

    def _pairs(self, dialogues: Dialogues) -> Iterator[Pair]:
        chances = dialogues.harvest.chances
        for decision in decisions(dialogues.harvest.tree):
            known = [node for node in unbroken(dialogues, decision) if node in chances]
            for one, other in permutations(known, 2):
                probability = probably_higher(chances[one], chances[other])
                outputs = parting(dialogues, one, other).outputs
                if probability <= self.threshold or outputs is None:
                    continue
                better, worse = outputs
                if is_clean(dialogues, better) and is_own(dialogues, worse):
                    yield Pair(decision.node, better, worse, probability)

    def _limits(self) -> Limits:
        return Limits(
            max_per_node=self.max_per_node,
            max_per_tree=self.max_per_tree,
            max_length_ratio=self.max_length_ratio,
        )


def probably_higher(one: Chance, other: Chance) -> float:
    """The probability that a draw from the first posterior exceeds one from the second.

    The integral of F_other(F_one^-1(u)) over u in [0, 1], where F are the distributions: by
    Gauss-Legendre quadrature between the quantiles of the second, where F_other rises. In each
    part u runs as a sine squared, which smooths the ends.
    """
    import numpy as np
    from scipy.special import betainc, betaincinv

    rises = betainc(one.a, one.b, betaincinv(other.a, other.b, _QUANTILES))
    edges = np.unique([0.0, *rises, 1.0])
    nodes, weights = np.polynomial.legendre.leggauss(_NUM_POINTS)
    angles = (nodes + 1) * np.pi / 4
    widths = np.diff(edges)[:, None]
    u = np.clip(edges[:-1, None] + widths * np.sin(angles) ** 2, 0.0, 1.0)
    values = betainc(other.a, other.b, betaincinv(one.a, one.b, u))
    total = float(np.sum(values * widths * np.sin(2 * angles) * weights) * np.pi / 4)
    return min(1.0, max(0.0, total))


def _check_resampled(harvest: Harvest) -> None:
    if harvest.chances:
        return
    tree = harvest.tree
    failures: list[Failure | None] = [
        tree.nodes[node].turn.failure for decision in decisions(tree) for node in decision.tries
    ]
    if None in failures:
        raise DataError(
            f"{harvest.run}: no try of task {tree.task_id}, trial {tree.trial}, was played on, so "
            "nothing tells which is better; run `drl resample RUN` on it first, with "
            "--max-nodes all to cover every choice, or mine with miner=siblings"
        )
