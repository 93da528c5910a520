"""Credit where it was earned: the reward events of a search, turn by turn."""

from __future__ import annotations

from dataclasses import dataclass

from drl.credit._dialogues import Dialogue, dialogues, spread
from drl.credit.base import Credit, CreditedDialogue
from drl.tree.dialogue_tree import DialogueTree


@dataclass(kw_only=True)
class GoalEventsCredit(Credit):
    """Pays each turn of the agent the reward events up to its next turn.

    With `reward=goal_api` these add up to the score. With another `score` they need not; the
    difference is the dialogue's `shaping`. No event is a reward of 0, scored or not.
    """

    shapes = True
    pays_events = True

    def assign(self, tree: DialogueTree) -> list[CreditedDialogue]:
        """All dialogues that did not break and were not cut by a collapse."""
        return spread(tree, dialogues(tree), _rewards)


def _rewards(dialogue: Dialogue) -> list[float]:
    return [stretch.events for stretch in dialogue.stretches]
