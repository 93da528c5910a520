"""Which saved branches are to be played on: those at places where the search had a choice."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field

from drl.evaluation.label_error import Sibling
from drl.runtime.seeds import derive
from drl.tree.decisions import Decision, decisions
from drl.tree.dialogue_tree import FULL_SCORE, DialogueTree
from drl.types import Outcome, Role, StopReason


@dataclass(slots=True)
class Survey:
    """What the trees of a run offer, and what was chosen of it."""

    siblings: list[Sibling] = field(default_factory=list)
    num_trees: int = 0
    num_decisions: int = 0
    num_drawn: int = 0
    num_broke: int = 0
    """Saved turns that broke themselves, so that nothing can follow."""


def survey(
    trees: Iterable[DialogueTree], *, max_steps: int, max_nodes: int | None, seed: int
) -> Survey:
    """All tries at the places of choice; at most `max_nodes` places of each tree.

    Args:
        trees: those of a run; they are passed over one at a time.
        max_steps: agent turns after which a dialogue is over.
        max_nodes: None takes all places.
        seed: which places are drawn follows from it and from the tree's task and trial.
    """
    found = Survey()
    for tree in trees:
        all_decisions = decisions(tree)
        found.num_trees += 1
        found.num_decisions += len(all_decisions)
        drawn = all_decisions
        if max_nodes is not None and len(all_decisions) > max_nodes:
            draw = random.Random(derive(seed, "places", tree.task_id, tree.trial))
            drawn = sorted(draw.sample(all_decisions, max_nodes), key=lambda d: d.node)
        found.num_drawn += len(drawn)
        for decision in drawn:
            for node, label in decision.tries.items():
                if tree.nodes[node].stop is StopReason.ERROR:
                    found.num_broke += 1
                else:
                    found.siblings.append(_sibling(tree, decision, node, label, max_steps))
    return found


def _sibling(
    tree: DialogueTree, decision: Decision, node_id: int, label: Outcome, max_steps: int
) -> Sibling:
    node = tree.nodes[node_id]
    num_open = len(tree.nodes[decision.node].open_goals)
    own = [turn for turn in tree.dialogue(node_id) if turn.role is Role.AGENT]
    num_turns = sum(turn.text is not None for turn in own)
    has_outgrown = node.stop is StopReason.CONTEXT_OVERFLOW
    over = has_outgrown or not node.open_goals or num_turns >= max_steps
    return Sibling(
        task_id=tree.task_id,
        trial=tree.trial,
        decision=decision.node,
        node=node_id,
        label=label,
        num_open=num_open,
        num_turns=num_turns,
        earned=len(node.open_goals) < num_open,
        over=over,
        full=None if node.score is None else node.score >= FULL_SCORE,
    )
