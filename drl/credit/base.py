"""Credit: from what a tree earned to what each of the agent's turns is worth.

To add an assigner, write `drl/credit/<name>.py` with a final `Credit` and
`conf/credit/<name>.yaml`; `tests/contracts/test_credit.py` then tests it without further work.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from drl.tree.dialogue_tree import DialogueTree


@dataclass(frozen=True, slots=True)
class CreditedTurn:
    """An agent's turn, by the nodes that hold it (several where a search branched inside it).

    `reward` is its share of the session total. `weight` is how much it counts in the gradient; 0
    where another dialogue of the tree holds the same turn already. `advantage` is given where the
    tree itself tells how much better the turn was than its siblings; otherwise a learner estimates
    it from the rewards.
    """

    nodes: tuple[int, ...]
    reward: float
    weight: float = 1.0
    advantage: float | None = None


@dataclass(frozen=True, slots=True)
class CreditedDialogue:
    """A dialogue of a tree, by the id of its leaf, and its agent's turns in order.

    `total` is what the dialogue is worth as a whole: its score, or the sum of its reward events
    where it is unscored.
    """

    leaf: int
    turns: tuple[CreditedTurn, ...]
    total: float

    @property
    def shaping(self) -> float:
        """By how much the rewards of the turns exceed the total; 0 unless an assigner shapes."""
        return sum(turn.reward for turn in self.turns) - self.total


class Credit(ABC):
    """Says what the turns of a tree's dialogues are worth."""

    shapes: bool = False
    """Whether the rewards of a dialogue may add up to something else than its total."""

    needs_siblings: bool = False
    """Whether it learns from siblings only, and so wants trees whose branches are not cut."""

    @abstractmethod
    def assign(self, tree: DialogueTree) -> list[CreditedDialogue]:
        """The dialogues that something can be learned from, by leaf.

        Those that broke are left out, and so are those that were cut before their end.
        """
