"""What the places of choice of a tree have to teach, whatever a miner makes of them."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from drl.miner._verdicts import verdicts
from drl.tree.decisions import decisions
from drl.tree.dialogue_tree import DialogueTree

Lesson = Literal["contrast", "all_rewarded", "none_rewarded", "unresolved"]
"""A try that earned a reward stands beside one that is known to have failed; or all tries earned
one; or all are known to have failed; or what became of those without a reward is not known, as
their branches were cut or broke."""


def lessons(tree: DialogueTree) -> Counter[Lesson]:
    """How many places of choice there are of each kind."""
    judged = verdicts(tree)
    return Counter(
        _lesson({judged[node] for node in decision.tries}) for decision in decisions(tree)
    )


def _lesson(found: set[bool | None]) -> Lesson:
    if {True, False} <= found:
        return "contrast"
    if None in found:
        return "unresolved"
    return "all_rewarded" if True in found else "none_rewarded"
