"""All credit to the end: the plainest reading of a session score."""

from __future__ import annotations

from dataclasses import dataclass

from drl.credit._dialogues import Dialogue, spread, valued
from drl.credit.base import Credit, CreditedDialogue
from drl.tree.dialogue_tree import DialogueTree


@dataclass(kw_only=True)
class TerminalCredit(Credit):
    """Pays the dialogue's total in its agent's last turn, and nothing before.

    An unscored dialogue is worth the sum of its reward events; if it has none, nothing is known of
    it (unscored is not 0), and it is left out.
    """

    def assign(self, tree: DialogueTree) -> list[CreditedDialogue]:
        """The dialogues whose total is known."""
        return spread(tree, valued(tree), _rewards)


def _rewards(dialogue: Dialogue) -> list[float]:
    return [0.0] * (len(dialogue.stretches) - 1) + [dialogue.total]
