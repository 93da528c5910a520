"""Where a search had a choice: the nodes after which the agent was tried several times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from drl.tree.dialogue_tree import DialogueTree
from drl.types import Outcome, Role

_FIRST_THAT_HOLDS = (Outcome.SUCCESSFUL, Outcome.CENSORED, Outcome.FAILED, Outcome.ERROR)


@dataclass(frozen=True, slots=True)
class Decision:
    """A node, and the tries after it: turns of the agent, or parts of turns, by id.

    Each try has a label: golden if the search went on there; else successful if a branch through
    it earned a reward; else censored if one was cut before it could; else failed; error if all of
    them broke.
    """

    node: int
    tries: Mapping[int, Outcome]


def decisions(tree: DialogueTree) -> list[Decision]:
    """All nodes with two or more tries after them, in order of birth; continuations aside."""
    ends: list[set[Outcome]] = [set() for _ in tree.nodes]
    for leaf in tree.leaves():
        outcome = tree.outcome(leaf)
        for node in tree.path(leaf.id):
            ends[node.id].add(outcome)

    def label(node_id: int) -> Outcome:
        if tree.nodes[node_id].golden:
            return Outcome.GOLDEN
        return next(outcome for outcome in _FIRST_THAT_HOLDS if outcome in ends[node_id])

    found: list[Decision] = []
    for node_id, below in enumerate(tree.children()):
        children = [tree.nodes[child] for child in below]
        tries = [c.id for c in children if c.turn.role is Role.AGENT and not c.continuation]
        if len(tries) > 1:
            found.append(Decision(node_id, {child: label(child) for child in tries}))
    return found
