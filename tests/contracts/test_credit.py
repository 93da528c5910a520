"""What every assigner of credit promises: one test for each option in conf/credit."""

import asyncio
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from miner.groves import wild
from scripted import ScriptedAgent, ScriptedUser, cast_of, josh, lucky, task_of

from drl.agent.base import Situation
from drl.credit.base import Credit
from drl.errors import DataError
from drl.rollout.base import Rollout
from drl.rollout.best_of_n import BestOfNRollout
from drl.rollout.single import SingleRollout
from drl.runtime.compose import compose, options
from drl.runtime.config import build, to_plain
from drl.tree.codec import from_line, to_line
from drl.tree.dialogue_tree import DialogueTree
from drl.types import Role, Step, StopReason

CONF = Path(__file__).parents[2] / "conf"
VARIANTS = [[f"credit={choice}"] for choice in options(CONF, "credit")] + [
    ["credit=tree", "credit.pays=score"]
]
LEFT_OUT = (StopReason.ERROR, StopReason.COLLAPSED)
ROLLOUTS: list[Rollout] = [
    SingleRollout(max_steps=4, max_calls=None, concurrency=64),
    BestOfNRollout(num_dialogues=3, agent_calls=None, max_steps=4, concurrency=64),
    josh(max_steps=4, collapse_to="never"),
    josh(max_steps=4, collapse_to="never", branch_at="step"),
    josh(max_steps=4, resolve_censored=2),
]


@pytest.fixture(params=VARIANTS, ids=" ".join)
def credit(request) -> Credit:
    built = build("credit", to_plain(compose(CONF, request.param))["credit"])
    assert isinstance(built, Credit)
    return built


def grown(rollout: Rollout, seed: int) -> DialogueTree:
    """A tree of an agent that is lucky at times, and breaks at times."""
    draw = random.Random(seed)
    agent = ScriptedAgent(fragile(draw, lucky(draw.random())))
    user = ScriptedUser(ends_at=draw.choice((2, None)))
    task = task_of("goal_0", "goal_1", "goal_2")
    return asyncio.run(rollout.run(task, seed, cast_of(agent, user, seed=seed)))


def fragile(draw: random.Random, act):
    def moved(situation: Situation) -> Step:
        if draw.random() < 0.03:
            raise RuntimeError("no answer")
        return act(situation)

    return moved


def trees(credit: Credit) -> Iterator[DialogueTree]:
    """Trees as rollouts leave them, and some as none would."""
    for seed in range(6):
        for rollout in ROLLOUTS:
            if not (rollout.cuts_branches and credit.needs_siblings):
                yield grown(rollout, seed)
    for seed in range(60):
        tree, _ = wild(seed)
        if credit.needs_siblings:
            for leaf in tree.leaves():
                if leaf.stop is StopReason.COLLAPSED:
                    leaf.stop = StopReason.MAX_TURNS
        yield tree


def whole_turns(tree: DialogueTree, leaf: int) -> list[tuple[int, ...]]:
    """The agent's turns with a step, as `DialogueTree.dialogue` joins them, by their nodes."""
    nodes = iter(tree.path(leaf))
    found: list[tuple[int, ...]] = []
    for turn in tree.dialogue(leaf):
        parts = [next(nodes)]
        while parts[-1].turn.text is None and sum(len(p.turn.steps) for p in parts) < len(
            turn.steps
        ):
            parts.append(next(nodes))
        if turn.role is Role.AGENT and turn.steps:
            found.append(tuple(part.id for part in parts))
    return found


def test_each_dialogue_that_did_not_break_and_was_not_cut_is_there_with_all_its_turns(credit):
    for tree in trees(credit):
        wanted = {
            leaf.id: whole_turns(tree, leaf.id)
            for leaf in tree.leaves()
            if leaf.stop not in LEFT_OUT and whole_turns(tree, leaf.id)
        }
        given = {d.leaf: [turn.nodes for turn in d.turns] for d in credit.assign(tree)}
        assert given == wanted
        assert list(given) == sorted(given)


def test_the_rewards_of_a_dialogue_add_up_to_its_total_unless_it_shapes(credit):
    for tree in trees(credit):
        for dialogue in credit.assign(tree):
            score = tree.nodes[dialogue.leaf].score
            assert dialogue.total == score
            if not credit.shapes:
                assert dialogue.shaping == pytest.approx(0.0, abs=1e-12)


def test_rewards_of_goals_add_up_to_the_score_in_any_case(credit):
    for rollout in ROLLOUTS[:4]:
        dialogues = credit.assign(grown(rollout, seed=1))
        assert dialogues
        for dialogue in dialogues:
            assert dialogue.shaping == pytest.approx(0.0, abs=1e-12)


def test_a_turn_weighs_at_most_1_and_all_its_dialogues_together_its_share_of_the_tree(credit):
    for tree in trees(credit):
        weights: Counter[tuple[int, ...]] = Counter()
        dialogues = credit.assign(tree)
        kept = {node.id for d in dialogues for node in tree.path(d.leaf)}
        for dialogue in dialogues:
            for turn in dialogue.turns:
                assert 0 <= turn.weight <= 1
                weights[turn.nodes] += turn.weight
        for nodes, weight in weights.items():
            share = 1.0
            for node in tree.path(nodes[-1]):
                if node.parent is not None:
                    share /= sum(tree.nodes[other].parent == node.parent for other in kept)
            assert weight == pytest.approx(share)


def test_where_advantages_are_given_every_turn_has_one_and_counts_once(credit):
    for tree in trees(credit):
        turns = [turn for dialogue in credit.assign(tree) for turn in dialogue.turns]
        given = [turn for turn in turns if turn.advantage is not None]
        assert len(given) in (0, len(turns))
        if given:
            counted = Counter(turn.nodes for turn in turns if turn.weight)
            assert counted == dict.fromkeys((turn.nodes for turn in turns), 1)


def test_equal_trees_get_equal_credit_and_none_is_changed(credit):
    for tree in trees(credit):
        before = to_line(tree)
        first = credit.assign(tree)
        assert to_line(tree) == before
        assert credit.assign(from_line(before)) == first


def test_a_tree_of_which_nothing_can_be_learned_gives_nothing(credit):
    broken = grown(SingleRollout(max_steps=1, max_calls=None, concurrency=64), seed=0)
    for leaf in broken.leaves():
        leaf.stop, leaf.score = StopReason.ERROR, None
    for tree in (DialogueTree("task", 0, 1), broken):
        assert credit.assign(tree) == []


def test_cut_branches_are_refused_by_what_compares_branches_and_only_there(credit):
    cut = next(t for s in range(20) if is_cut(t := grown(ROLLOUTS[-1], s)))
    if credit.needs_siblings:
        with pytest.raises(DataError, match="collapse_to=never"):
            credit.assign(cut)
    else:
        assert credit.assign(cut)


def is_cut(tree: DialogueTree) -> bool:
    return any(leaf.stop is StopReason.COLLAPSED for leaf in tree.leaves())
