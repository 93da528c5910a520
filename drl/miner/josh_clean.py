"""josh-train's recipe without its noise: only outputs that act, and only failures that are known.

Unlike there, an output that neither calls nor replies, that is or brought an error, or that a limit
of tokens cut, is not learned, though it stays in the dialogue; and a branch that was cut is no
failure.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from drl.miner._clean import is_clean
from drl.miner._dialogues import Dialogues, Output
from drl.miner._ideal import ideal_end
from drl.miner._pairs import Limits, Pair, mistakes
from drl.miner._rows import labelled
from drl.miner._verdicts import verdicts
from drl.miner.base import Form, Harvest, Miner, Row, SFTRow


@dataclass(kw_only=True)
class JoshCleanMiner(Miner):
    """The golden dialogue down to its last reward.

    sft: the dialogue, its clean outputs trained. kto: those outputs are good; bad are the outputs
    with which tries that failed parted from it. The limits are on bad ones; the ratio of lengths is
    to the good output after the same prompt. Trees without a golden path offer their best dialogue.
    """

    forms = ("sft", "kto")

    full_success_only: bool
    max_per_node: int | None
    max_per_tree: int | None
    max_length_ratio: float | None

    def __post_init__(self) -> None:
        """Check the settings."""
        self._limits()

    def mine(self, harvest: Harvest, form: Form) -> Iterator[Row]:
        """The rows of one tree."""
        end = ideal_end(harvest.tree, full_success_only=self.full_success_only)
        if end is None:
            return
        dialogues = Dialogues(harvest)
        good = [output for output in dialogues.along(end.id) if is_clean(dialogues, output)]
        if form == "sft":
            yield from _whole(dialogues, end.id, good)
            return
        for output in good:
            yield labelled(dialogues, output, label=True)
        for pair in self._limits().keep(dialogues, _beside(dialogues, good)):
            yield labelled(dialogues, pair.worse, label=False)

    def _limits(self) -> Limits:
        return Limits(
            max_per_node=self.max_per_node,
            max_per_tree=self.max_per_tree,
            max_length_ratio=self.max_length_ratio,
        )


def _whole(dialogues: Dialogues, end: int, good: list[Output]) -> Iterator[SFTRow]:
    chat = dialogues.chat(end)
    known = {output.id for output in good}
    trained = {
        place: output
        for place, output in dialogues.places(chat.messages, end)
        if output.id in known
    }
    if trained:
        yield SFTRow(
            messages=chat.messages,
            trained=tuple(trained),
            tools=chat.tools,
            origin=dialogues.origin(*trained.values()),
        )


def _beside(dialogues: Dialogues, good: list[Output]) -> Iterator[Pair]:
    """Clean mistakes whose prompt is that of a good output."""
    known = {output.id for output in good}
    for pair in mistakes(dialogues, verdicts(dialogues.harvest.tree)):
        if pair.better.id in known and is_clean(dialogues, pair.worse):
            yield pair
