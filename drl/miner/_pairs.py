"""Pairs of outputs at the first difference of two tries, and how many of them are kept."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from drl.errors import ConfigError
from drl.llm.base import Message
from drl.miner._dialogues import Dialogues, Output
from drl.runtime.seeds import derive
from drl.runtime.settings import check_positive
from drl.tree.decisions import Decision, decisions
from drl.types import ToolResult


@dataclass(frozen=True, slots=True)
class Pair:
    """Two outputs after one prompt, of tries that follow the node `decision`."""

    decision: int
    better: Output
    worse: Output
    weight: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How many pairs are kept: of one place of choice, and of one tree.

    Of more, those kept are drawn. With `max_length_ratio`, a pair is dropped whose outputs differ
    in length by a larger factor, so that length is not what is learned. None leaves one out.
    """

    max_per_node: int | None
    max_per_tree: int | None
    max_length_ratio: float | None

    def __post_init__(self) -> None:
        """Check the settings."""
        counts = {"max_per_node": self.max_per_node, "max_per_tree": self.max_per_tree}
        check_positive("miner", **{k: count for k, count in counts.items() if count is not None})
        ratio = self.max_length_ratio
        if ratio is not None and not ratio >= 1:
            raise ConfigError(
                f"miner.max_length_ratio={ratio} must be at least 1, for equal lengths; null "
                "leaves it out"
            )

    def keep(self, dialogues: Dialogues, pairs: Iterable[Pair]) -> list[Pair]:
        """The pairs within the limits, each only once, in the order given.

        The pairs of a decision follow one another.
        """
        tree = dialogues.harvest.tree
        kept: list[Pair] = []
        for decision, of_one in groupby(pairs, attrgetter("decision")):
            fit = [p for p in _distinct(dialogues, of_one) if self._matches(dialogues, p)]
            kept += _drawn(fit, self.max_per_node, tree.task_id, tree.trial, decision)
        return _drawn(kept, self.max_per_tree, tree.task_id, tree.trial, -1)

    def _matches(self, dialogues: Dialogues, pair: Pair) -> bool:
        if self.max_length_ratio is None:
            return True
        outputs = (pair.better, pair.worse)
        short, long = sorted(max(1, dialogues.message(output).num_characters) for output in outputs)
        return long <= self.max_length_ratio * short


class Parting(NamedTuple):
    """How many outputs two tries share, and the two in which they part, if they do so by those."""

    num_shared: int
    outputs: tuple[Output, Output] | None


def parting(dialogues: Dialogues, one: int, other: int) -> Parting:
    """Where two tries part; equal outputs with different returns leave nothing to compare."""
    num_shared = 0
    for ours, theirs in zip(dialogues.outputs(one), dialogues.outputs(other), strict=False):
        if dialogues.message(ours) != dialogues.message(theirs):
            return Parting(num_shared, (ours, theirs))
        num_shared += 1
        if [*map(_returned, ours.step.results)] != [*map(_returned, theirs.step.results)]:
            break
    return Parting(num_shared, None)


def mistakes(dialogues: Dialogues, judged: Sequence[bool | None]) -> Iterator[Pair]:
    """For each try that failed: where it left those that earned a reward, with what they did.

    A try may share its first outputs with one success and not with another; only what no success
    did is a mistake, so it is set against those that it went along with furthest.
    """
    for decision in decisions(dialogues.harvest.tree):
        whole = unbroken(dialogues, decision)
        good = [node for node in whole if judged[node] is True]
        for bad in (node for node in whole if judged[node] is False):
            met = [parting(dialogues, node, bad) for node in good]
            furthest = max((num_shared for num_shared, _ in met), default=0)
            for num_shared, outputs in met:
                if outputs is not None and num_shared == furthest:
                    yield Pair(decision.node, *outputs)


def unbroken(dialogues: Dialogues, decision: Decision) -> list[int]:
    """The tries of a decision that did not break themselves."""
    nodes = dialogues.harvest.tree.nodes
    return [node for node in decision.tries if nodes[node].turn.failure is None]


def _distinct(dialogues: Dialogues, pairs: Iterable[Pair]) -> list[Pair]:
    """Tries may repeat one another; of equal pairs the first."""
    found: dict[tuple[tuple[Message, ...], Message], Pair] = {}
    for pair in pairs:
        key = (dialogues.words(pair.better), dialogues.message(pair.worse))
        found.setdefault(key, pair)
    return list(found.values())


def _drawn(pairs: list[Pair], most: int | None, task_id: str, trial: int, node: int) -> list[Pair]:
    if most is None or len(pairs) <= most:
        return pairs
    draw = random.Random(derive("miner", task_id, trial, node))
    return [pairs[place] for place in sorted(draw.sample(range(len(pairs)), most))]


def _returned(result: ToolResult) -> tuple[object, str | None]:
    """What the agent sees of a return."""
    return result.value, result.error
