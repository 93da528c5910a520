"""Credit from comparison: how much more followed on a turn than on others tried in its place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from drl.credit._dialogues import Dialogue, dialogues, earned, shares, valued
from drl.credit.base import Credit, CreditedDialogue, CreditedTurn
from drl.errors import DataError
from drl.tree.dialogue_tree import DialogueTree, Node
from drl.types import StopReason


@dataclass(kw_only=True)
class TreeCredit(Credit):
    """Gives advantages, without a critic, in trees whose branches all played to their end.

    Q of a turn is what it earned plus the mean over its branches of what followed, all the way
    down, undiscounted. Its siblings were sampled after the same node, so the mean of their Q,
    itself left out, says what to expect there: the advantage is Q less that mean. A turn without
    siblings is measured at the last fork above it: what its branch earned from there on, less the
    mean of what the other branches did. Above the first fork there is nothing to compare with,
    and the advantage is Q itself. Independent dialogues of one task are branches of one fork.

    What such a baseline is on average does not depend on the turn that it is for, so none biases
    the gradient; nor does where the tree branches, as long as that is settled before the branches
    are sampled. Each turn counts once, in the first dialogue that holds it, with its share of the
    tree. A turn that branched inside is several turns with a beginning in common: they have their
    siblings where that beginning was sampled.

    A branch that broke is left out of all means, as if it had not been tried; a turn below which
    all broke is dropped. That is exact only as far as what breaks does not depend on what the
    agent did. A branch that ran out of budget or context counts with what it earned.

    `pays`: the reward events of each turn (as `goal_events`), or the score of the dialogue at its
    end (as `terminal`; dialogues of which none is known are left out of the means).
    """

    needs_siblings = True

    pays: Literal["events", "score"]

    def __post_init__(self) -> None:
        """Events may add up to something else than the score."""
        self.shapes = self.pays_events = self.pays == "events"

    def assign(self, tree: DialogueTree) -> list[CreditedDialogue]:
        """All dialogues that did not break, with an advantage for every turn."""
        if any(leaf.stop is StopReason.COLLAPSED for leaf in tree.leaves()):
            raise DataError(
                f"task {tree.task_id}, trial {tree.trial}: branches were cut because others "
                "earned a reward, so what would have followed in them is not known and comparing "
                "with them is biased; sample trees with rollout.collapse_to=never, or choose "
                "another credit"
            )
        played = valued(tree) if self.pays == "score" else dialogues(tree)
        forest = _Forest(tree, played, self._paid(tree, played))
        seen: set[tuple[int, ...]] = set()
        return [self._credited(forest, dialogue, seen) for dialogue in played]

    def _paid(self, tree: DialogueTree, played: Sequence[Dialogue]) -> Mapping[int, float]:
        """The reward that is paid at each node, where there is one."""
        if self.pays == "events":
            return {node.id: earned(node) for node in tree.nodes}
        return {dialogue.leaf.id: dialogue.total for dialogue in played}

    def _credited(
        self, forest: _Forest, dialogue: Dialogue, seen: set[tuple[int, ...]]
    ) -> CreditedDialogue:
        turns: list[CreditedTurn] = []
        for stretch in dialogue.stretches:
            nodes = stretch.nodes
            is_last = stretch is dialogue.stretches[-1]
            at_end = dialogue.total if is_last else 0.0
            turn = CreditedTurn(
                nodes,
                reward=stretch.events if self.pays == "events" else at_end,
                weight=0.0 if nodes in seen else forest.share[nodes[-1]],
                advantage=forest.advantage(nodes),
            )
            seen.add(nodes)
            turns.append(turn)
        return CreditedDialogue(dialogue.leaf.id, tuple(turns), dialogue.total)


class _Forest:
    """What followed on each node that leads to one of the dialogues, and what to expect there."""

    def __init__(
        self, tree: DialogueTree, played: Sequence[Dialogue], paid: Mapping[int, float]
    ) -> None:
        leaves = [dialogue.leaf for dialogue in played]
        self.share = shares(tree, leaves)
        self._paid = paid
        kept = [tree.nodes[node_id] for node_id in sorted(self.share)]
        self._below: dict[int | None, list[int]] = defaultdict(list)
        for node in kept:
            self._below[node.parent].append(node.id)
        self._followed: dict[int, float] = {}
        for node in reversed(kept):  # children are younger than their parents
            self._followed[node.id] = self._mean_return(self._below[node.id])
        self._expected: dict[int, float | None] = {}
        for node in kept:
            self._expected[node.id] = self._expectation(node)

    def advantage(self, nodes: Sequence[int]) -> float:
        """What the turn that these nodes hold earned and led to, above what was to be expected."""
        found = sum(self._reward(node) for node in nodes) + self._followed[nodes[-1]]
        return found - (self._expected[nodes[0]] or 0.0)

    def _expectation(self, node: Node) -> float | None:
        """What may be expected from the node on, by the branches that parted at the last fork."""
        siblings = [other for other in self._below[node.parent] if other != node.id]
        if siblings:
            return self._mean_return(siblings)
        if node.parent is None:
            return None
        above = self._expected[node.parent]
        return None if above is None else above - self._reward(node.parent)

    def _mean_return(self, nodes: Sequence[int]) -> float:
        returns = [self._reward(node) + self._followed[node] for node in nodes]
        return sum(returns) / len(returns) if returns else 0.0

    def _reward(self, node: int) -> float:
        return self._paid.get(node, 0.0)
