import asyncio
from pathlib import Path

import pytest
from scripted import ScriptedAgent, ScriptedUser, cast_of, lucky, task_of

from drl.rollout.base import Rollout
from drl.runtime.compose import compose, options
from drl.runtime.config import build, to_plain
from drl.tree.codec import from_line, to_line
from drl.types import Role

CONF = Path(__file__).parents[2] / "conf"


VARIANTS = [[f"rollout={choice}"] for choice in options(CONF, "rollout")] + [
    ["rollout=josh", "rollout.branch_at=step", "rollout.resolve_censored=2"],
    ["rollout=josh/no_collapse", "rollout.branch_at=step"],
    ["rollout=josh", "rollout.branching=3", "rollout.beam_size=10", "rollout.final_harvest=false"],
    ["rollout=best_of_n", "rollout.num_dialogues=null", "rollout.agent_calls=20"],
]


@pytest.fixture(params=VARIANTS, ids=" ".join)
def rollout(request) -> Rollout:
    node = to_plain(compose(CONF, request.param))["rollout"]
    built = build("rollout", node)
    assert isinstance(built, Rollout)
    return built


@pytest.fixture(params=[(0.0, None), (0.3, None), (0.3, 4), (1.0, None), (0.5, 0)])
def tree(rollout, request):
    chance, ends_at = request.param
    return grow(rollout, chance, ends_at)


def grow(rollout, chance, ends_at):
    cast = cast_of(ScriptedAgent(lucky(chance)), ScriptedUser(ends_at), seed=1)
    rollout.check(cast.agent)
    return asyncio.run(rollout.run(task_of("goal_0", "goal_1", "goal_2"), 2, cast))


def test_nodes_are_numbered_by_birth_and_hang_together(tree):
    assert (tree.task_id, tree.trial) == ("task", 2)
    for position, node in enumerate(tree.nodes):
        assert node.id == position
        assert node.parent is None or node.parent < node.id


def test_every_end_of_a_branch_says_why_and_nothing_else_does(tree):
    below = tree.children()
    for node in tree.nodes:
        goes_on = [c for c in below[node.id] if node.continuation or not tree.nodes[c].continuation]
        assert (node.stop is None) == bool(goes_on)
    for leaf in tree.leaves(continuations=True):
        assert tree.outcome(leaf)


def test_sides_alternate_and_the_customer_opens(tree):
    for leaf in tree.leaves():
        roles = [turn.role for turn in tree.dialogue(leaf.id)]
        assert roles == [Role.USER, Role.AGENT] * (len(roles) // 2) + [Role.USER] * (len(roles) % 2)


def test_goals_only_ever_close_and_each_closes_with_an_event(tree):
    for leaf in tree.leaves():
        open_goals = (0, 1, 2)
        for node in tree.path(leaf.id):
            closed = set(open_goals) - set(node.open_goals)
            assert {event.detail["goal"] for event in node.events} == closed
            assert set(node.open_goals) <= set(open_goals)
            open_goals = node.open_goals
        assert leaf.score == pytest.approx(1 - len(open_goals) / 3)


def test_a_tree_survives_the_store_and_a_rerun_repeats_it(rollout, tree):
    assert from_line(to_line(tree)) == tree
    assert grow(rollout, 0.3, None) == grow(rollout, 0.3, None)
