"""What is known of a branch: that it led to a reward, that it led to none, or neither."""

from __future__ import annotations

from drl.tree.dialogue_tree import DialogueTree, Node
from drl.types import Outcome, Role, StopReason

_CUT = frozenset({StopReason.COLLAPSED, StopReason.BUDGET})


def verdicts(tree: DialogueTree) -> list[bool | None]:
    """For each node: whether a branch through it earned a reward; None where that is not known.

    It did not if every branch through it came to an end of its own without, or was tried alone and
    graded 0. A branch that was cut tells nothing, whatever its label, unless continuations resolved
    it; nor does one that broke, or that ended in a fault of the customer's. A customer who hangs up
    is taken for the agent's doing: nothing tells patience from a fault.
    """
    found: list[set[bool | None]] = [set() for _ in tree.nodes]
    for leaf in tree.leaves():
        verdict = _of_leaf(tree, leaf)
        for node in tree.path(leaf.id):
            found[node.id].add(verdict)
    return [_of_node(node, found[node.id]) for node in tree.nodes]


def _of_node(node: Node, ends: set[bool | None]) -> bool | None:
    if node.golden or True in ends:
        return True
    return False if ends == {False} else None


def _of_leaf(tree: DialogueTree, leaf: Node) -> bool | None:
    outcome = tree.outcome(leaf)
    if outcome in (Outcome.GOLDEN, Outcome.SUCCESSFUL):
        return True
    was_cut = leaf.stop in _CUT and leaf.resolved is None
    by_customer = leaf.turn.role is Role.USER and leaf.turn.failure is not None
    return False if outcome is Outcome.FAILED and not was_cut and not by_customer else None
