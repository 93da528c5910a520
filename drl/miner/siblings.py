"""Pairs of outputs at which a try that failed parts from one that earned a reward.

Tries follow one node, share their first outputs and differ in one: whatever made the difference
began there. Only tries whose end is known count; see `_verdicts`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from drl.llm.base import Message
from drl.miner._clean import is_clean, is_own
from drl.miner._dialogues import Dialogues
from drl.miner._pairs import Limits, Pair, mistakes
from drl.miner._rows import labelled, preferred
from drl.miner._verdicts import verdicts
from drl.miner.base import Form, Harvest, KTORow, Miner, Row


@dataclass(kw_only=True)
class SiblingsMiner(Miner):
    """dpo: the pairs. kto: the outputs in them, as good and bad.

    What is rejected may be an error; what is chosen may not.
    """

    forms = ("dpo", "kto")

    max_per_node: int | None
    max_per_tree: int | None
    max_length_ratio: float | None

    def __post_init__(self) -> None:
        """Check the settings."""
        self._limits()

    def mine(self, harvest: Harvest, form: Form) -> Iterator[Row]:
        """The rows of one tree."""
        dialogues = Dialogues(harvest)
        found = (
            pair
            for pair in mistakes(dialogues, verdicts(harvest.tree))
            if is_clean(dialogues, pair.better) and is_own(dialogues, pair.worse)
        )
        pairs = self._limits().keep(dialogues, found)
        if form == "kto":
            yield from _both(dialogues, pairs)
            return
        for pair in pairs:
            yield preferred(dialogues, pair.better, pair.worse, pair.weight)

    def _limits(self) -> Limits:
        return Limits(
            max_per_node=self.max_per_node,
            max_per_tree=self.max_per_tree,
            max_length_ratio=self.max_length_ratio,
        )


def _both(dialogues: Dialogues, pairs: list[Pair]) -> Iterator[KTORow]:
    """Each output once, though it may stand in several pairs."""
    seen: set[tuple[int, tuple[Message, ...], bool]] = set()
    for pair in pairs:
        for output, label in ((pair.better, True), (pair.worse, False)):
            key = (pair.decision, dialogues.words(output), label)
            if key not in seen:
                seen.add(key)
                yield labelled(dialogues, output, label=label)
