"""Credit: from what a tree earned to what each of the agent's turns is worth.

To add an assigner, write `drl/credit/<name>.py` with a final `Credit` and
`conf/credit/<name>.yaml`; `tests/contracts/test_credit.py` then tests it without further work.

**Weights.** A tree holds as many independent dialogues as it has roots. Where one branches, its
branches share the weight evenly, and so on below them; branches that are left out take no share.
With these weights, the sum over a tree of weight x what the turn and all after it earned x gradient
of its log-probability has the policy gradient as its mean, once for each root, however many leaves
there are (`tests/credit/test_policy_gradient.py`). Not so for an assigner that pays turns for what
later ones do (`uniform`), and not where a rollout `cuts_branches`: what is left was then chosen by
what it earned.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from drl.tree.dialogue_tree import DialogueTree


@dataclass(frozen=True, slots=True)
class CreditedTurn:
    """An agent's turn, by the nodes that hold it (several where a search branched inside it).

    `reward` is its share of the session total. `weight` is how much it counts in the gradient, at
    most 1; 0 where another dialogue of the tree stands for the same turn already. `advantage` is
    given where the tree itself tells how much better the turn was than others; otherwise a learner
    estimates it from the rewards.
    """

    nodes: tuple[int, ...]
    reward: float
    weight: float = 1.0
    advantage: float | None = None


@dataclass(frozen=True, slots=True)
class CreditedDialogue:
    """A dialogue of a tree, by the id of its leaf, and its agent's turns in order.

    A turn in which the agent came to no decision is not among them. `total` is what the dialogue
    is worth as a whole: its score, or the sum of its reward events where it is unscored.
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
    """Whether it compares branches with one another, and so refuses trees in which some were cut
    because of what others earned."""

    pays_events: bool = False
    """Whether the reward of a turn is the sum of its reward events."""

    @abstractmethod
    def assign(self, tree: DialogueTree) -> list[CreditedDialogue]:
        """The dialogues that something can be learned from, by leaf.

        Left out are those that broke, those that a collapse cut, and those without a turn of the
        agent. Those that a budget or a model's context cut stay, with what they earned so far:
        whether more would have come is for the trainer to say.

        Raises:
            DataError: it needs siblings, and branches of the tree were cut.
        """
