"""The dialogues of a tree that can be learned from, cut into the agent's turns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from drl.credit.base import CreditedDialogue, CreditedTurn
from drl.tree.dialogue_tree import DialogueTree, Node
from drl.types import Role, StopReason

_LEFT_OUT = (StopReason.ERROR, StopReason.COLLAPSED)


@dataclass(frozen=True, slots=True)
class Stretch:
    """A turn of the agent by its nodes, and the reward events up to its next turn.

    What comes of the customer's answer was earned by the turn that it answers. Events before the
    agent's first turn, if any, are the first turn's.
    """

    nodes: tuple[int, ...]
    events: float


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A dialogue with at least one turn of the agent.

    `worth` is its score, or the sum of its reward events where it is unscored. None: it has
    neither, so nothing tells what it is worth; that is not 0.
    """

    leaf: Node
    stretches: tuple[Stretch, ...]
    worth: float | None

    @property
    def total(self) -> float:
        """What it is worth, and 0 where that is not known."""
        return self.worth or 0.0


def dialogues(tree: DialogueTree) -> list[Dialogue]:
    """Those that neither broke nor were cut by a collapse, by leaf."""
    found: list[Dialogue] = []
    for leaf in tree.leaves():
        path = tree.path(leaf.id)
        stretches = _stretches(path)
        if stretches and leaf.stop not in _LEFT_OUT:
            found.append(Dialogue(leaf, stretches, _worth(leaf, path)))
    return found


def valued(tree: DialogueTree) -> list[Dialogue]:
    """Those of `dialogues` whose worth is known."""
    return [dialogue for dialogue in dialogues(tree) if dialogue.worth is not None]


def earned(node: Node) -> float:
    """The sum of a node's reward events."""
    return sum(event.amount for event in node.events)


def shares(tree: DialogueTree, leaves: Sequence[Node]) -> dict[int, float]:
    """For each node on the way to these leaves its share of the dialogue that its root began."""
    kept = {node.id: node for leaf in leaves for node in tree.path(leaf.id)}
    num_siblings = Counter(node.parent for node in kept.values())
    share: dict[int, float] = {}
    for node_id in sorted(kept):  # parents are older than their children
        parent = kept[node_id].parent
        share[node_id] = 1.0 if parent is None else share[parent] / num_siblings[parent]
    return share


def spread(
    tree: DialogueTree,
    played: Sequence[Dialogue],
    rewards_of: Callable[[Dialogue], Sequence[float]],
) -> list[CreditedDialogue]:
    """Each dialogue with one reward for each of its turns; its turns weigh what its leaf does."""
    share = shares(tree, [dialogue.leaf for dialogue in played])
    credited: list[CreditedDialogue] = []
    for dialogue in played:
        pairs = zip(dialogue.stretches, rewards_of(dialogue), strict=True)
        weight = share[dialogue.leaf.id]
        turns = tuple(CreditedTurn(stretch.nodes, reward, weight) for stretch, reward in pairs)
        credited.append(CreditedDialogue(dialogue.leaf.id, turns, dialogue.total))
    return credited


def _worth(leaf: Node, path: Sequence[Node]) -> float | None:
    if leaf.score is not None:
        return leaf.score
    return sum(map(earned, path)) if any(node.events for node in path) else None


def _stretches(path: Sequence[Node]) -> tuple[Stretch, ...]:
    """The path in pieces that each begin with a turn of the agent, but for what goes before it.

    A turn without a step (the context was full before the agent could act) is no decision of the
    agent, so it goes with what came before.
    """
    turns = [turn for turn in _turns(path) if any(node.turn.steps for node in turn)]
    if not turns:
        return ()
    places = {node.id: place for place, node in enumerate(path)}
    later = [places[turn[0].id] for turn in turns[1:]]
    return tuple(
        Stretch(tuple(node.id for node in turn), sum(map(earned, path[begin:end])))
        for turn, begin, end in zip(turns, [0, *later], [*later, len(path)], strict=True)
    )


def _turns(path: Sequence[Node]) -> list[list[Node]]:
    """The agent's turns, each with all the nodes that hold it."""
    turns: list[list[Node]] = []
    goes_on = False
    for node in path:
        of_agent = node.turn.role is Role.AGENT
        if of_agent and goes_on:
            turns[-1].append(node)
        elif of_agent:
            turns.append([node])
        goes_on = of_agent and node.turn.text is None
    return turns
