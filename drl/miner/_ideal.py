"""The dialogue of a tree that is worth learning as a whole."""

from __future__ import annotations

from drl.tree.dialogue_tree import FULL_SCORE, DialogueTree, Node


def ideal_end(tree: DialogueTree, *, full_success_only: bool) -> Node | None:
    """The turn that reached the last goal on the golden path; what follows it earned nothing.

    A tree without a golden path, which no search has chosen, offers its best dialogue. None where
    no goal was reached, or, with `full_success_only`, not all of them, or the grade of the whole
    dialogue says that something else went wrong.
    """
    path = [node for node in tree.nodes if node.golden] or _best(tree)
    if full_success_only and path and not _may_be_full(path[-1]):
        return None
    if tree.num_goals:
        for node in path:
            if not node.open_goals:
                return node
    rewarded = [node for node in path if node.events]
    return rewarded[-1] if rewarded and not full_success_only else None


def _may_be_full(end: Node) -> bool:
    return end.score is None or end.score >= FULL_SCORE


def _best(tree: DialogueTree) -> list[Node]:
    leaf = tree.best_leaf()
    return tree.path(leaf.id) if leaf else []
