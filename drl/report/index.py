"""One small row per tree: all that the report needs before a tree is opened."""

from typing import Literal

from drl.report.task_card import TaskCard
from drl.tree.dialogue_tree import DialogueTree, Node
from drl.types import JSON, Outcome, Role

GoalState = Literal["hit", "elsewhere", "missed"]


def index_row(card: TaskCard, tree: DialogueTree) -> dict[str, JSON]:
    """What the overview shows and filters by.

    The dialogue that stands for the tree is its best one (`DialogueTree.best_leaf`), as in the
    summary.
    """
    best = tree.best_leaf()
    outcomes = {outcome.value: 0 for outcome in Outcome}
    for leaf in tree.leaves():
        outcomes[tree.outcome(leaf).value] += 1
    return {
        "task": card.task_id,
        "trial": card.trial,
        **({"title": card.title} if card.title else {}),
        "domains": card.domains,
        "score": card.score,
        "goals": [kind for kind, _ in card.goals],
        "goal_words": " ".join(
            str(value) for _, arguments in card.goals for value in arguments.values()
        ),
        "goal_states": _goal_states(tree, best),
        "outcomes": outcomes,
        "best": None if best is None else best.id,
        "nodes": len(tree.nodes),
        "roots": sum(node.parent is None for node in tree.nodes),
        "agent_calls": tree.num_agent_calls,
        "turns": _num_agent_turns(tree, best),
    }


def _goal_states(tree: DialogueTree, best: Node | None) -> list[GoalState]:
    """Per goal whether the best dialogue reached it, only another one did, or none."""
    states: list[GoalState] = ["missed"] * tree.num_goals
    for node in tree.nodes:
        if not node.continuation:
            for goal in _reached(tree, node):
                states[goal] = "elsewhere"
    if best is not None:
        for node in tree.path(best.id):
            for goal in _reached(tree, node):
                states[goal] = "hit"
    return states


def _reached(tree: DialogueTree, node: Node) -> list[int]:
    """The goals that were open before the node's turn and are not any more."""
    if node.turn.failure is not None:
        return []  # a broken turn reaches nothing, whatever it says about its goals
    before = range(tree.num_goals) if node.parent is None else tree.nodes[node.parent].open_goals
    return [goal for goal in before if goal not in node.open_goals]


def _num_agent_turns(tree: DialogueTree, best: Node | None) -> int:
    """Finished agent turns of the best dialogue, or of the longest where none is graded."""
    ends = list(tree.leaves()) if best is None else [best]
    return max((sum(map(_is_reply, tree.path(end.id))) for end in ends), default=0)


def _is_reply(node: Node) -> bool:
    return node.turn.role is Role.AGENT and node.turn.text is not None
