"""The same credit to every turn: what to compare finer assigners with."""

from __future__ import annotations

from dataclasses import dataclass

from drl.credit._dialogues import Dialogue, spread, valued
from drl.credit.base import Credit, CreditedDialogue
from drl.tree.dialogue_tree import DialogueTree


@dataclass(kw_only=True)
class UniformCredit(Credit):
    """Pays every turn of the agent an equal part of the dialogue's total.

    Early turns are paid for what later ones do, so a learner that counts only what follows on a
    turn gives late turns too little; one that takes each turn for as good as its dialogue does not.

    An unscored dialogue is worth the sum of its reward events; if it has none, nothing is known of
    it (unscored is not 0), and it is left out.
    """

    def assign(self, tree: DialogueTree) -> list[CreditedDialogue]:
        """The dialogues whose total is known."""
        return spread(tree, valued(tree), _rewards)


def _rewards(dialogue: Dialogue) -> list[float]:
    num_turns = len(dialogue.stretches)
    return [dialogue.total / num_turns] * num_turns
