"""Over all trees that can be sampled, the mean gradient is the exact one: by enumeration."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from math import fsum

import pytest
from credit.game import Game, Gradient, all_trees, estimate
from scripted import josh

from drl.credit.base import Credit
from drl.credit.goal_events import GoalEventsCredit
from drl.credit.terminal import TerminalCredit
from drl.credit.tree import TreeCredit
from drl.credit.uniform import UniformCredit
from drl.errors import DataError
from drl.rollout.base import Rollout
from drl.rollout.best_of_n import BestOfNRollout
from drl.rollout.single import SingleRollout
from drl.tree.dialogue_tree import DialogueTree
from drl.types import StopReason

TREE = TreeCredit(pays="events")
UNIFORM = UniformCredit()
CREDITS: dict[str, Credit] = {
    "tree by events": TREE,
    "tree by score": TreeCredit(pays="score"),
    "goal_events": GoalEventsCredit(),
    "terminal": TerminalCredit(),
}


def uncut(**settings) -> Rollout:
    """A tree whose branches all play to their end."""
    return josh(collapse_to="never", **settings)


LONG = Game({"0": "a", "01": "b", "10": "a", "11": "b", "011": "c", "100": "c", "110": "a"})
UNEVEN = replace(LONG, ends=frozenset({"1", "00"}))  # ends early, so that others branch once more
SHORT = replace(LONG, num_turns=2)
TWO_STEPS = Game(
    {"0": "a", "10": "a", "11": "b", "101": "b", "110": "c", "0111": "c", "0110": "b"},
    steps_per_turn=2,
    num_turns=2,
)
BY_COUNT = BestOfNRollout(num_dialogues=3, agent_calls=None, max_steps=2, concurrency=64)
BY_BUDGET = BestOfNRollout(num_dialogues=None, agent_calls=4, max_steps=3, concurrency=64)

SAMPLES: dict[str, tuple[Game, Rollout, int]] = {
    "one dialogue": (UNEVEN, SingleRollout(max_steps=3, max_calls=None, concurrency=64), 1),
    "three dialogues": (SHORT, BY_COUNT, 3),
    "a beam of two": (LONG, uncut(beam_size=2, max_steps=3), 1),
    "a beam of two that branches again": (UNEVEN, uncut(beam_size=2, max_steps=3), 1),
    "a beam of four": (SHORT, uncut(beam_size=4, max_steps=2), 1),
    "a beam of four that branches again": (UNEVEN, uncut(beam_size=4, max_steps=3), 1),
    "branches of three": (SHORT, uncut(beam_size=3, branching=3, max_steps=2), 1),
    "branches inside of a turn": (
        replace(TWO_STEPS, num_turns=1),
        uncut(branch_at="step", beam_size=4, max_steps=1),
        1,
    ),
    "branches at steps of two turns": (
        replace(TWO_STEPS, ends=frozenset({"11"})),
        uncut(branch_at="step", beam_size=2, max_steps=2),
        1,
    ),
}
"""What can be sampled, and how many independent dialogues a tree of it holds."""


def mean(parts: Iterator[tuple[Gradient, float]]) -> Gradient:
    """The mean of gradients with their probabilities, which must add up to 1."""
    terms: dict[str, list[float]] = defaultdict(list)
    probabilities = []
    for gradient, probability in parts:
        probabilities.append(probability)
        for past, slope in gradient.items():
            terms[past].append(probability * slope)
    assert fsum(probabilities) == pytest.approx(1.0, abs=1e-12)
    return {past: fsum(values) for past, values in terms.items()}


def distance(found: Gradient, exact: Gradient) -> float:
    """The largest difference in any parameter."""
    return max(abs(found.get(past, 0.0) - exact.get(past, 0.0)) for past in {*found, *exact})


def test_the_exact_gradient_is_the_slope_of_the_value():
    exact = UNEVEN.exact_gradient()
    assert set(exact) == {"", "0", "01"}  # what can be said before someone hangs up
    for past, slope in exact.items():
        above, below = (replace(UNEVEN, shift={past: step}).value() for step in (1e-5, -1e-5))
        assert slope == pytest.approx((above - below) / 2e-5, abs=1e-9)
        assert abs(slope) > 1e-3


@pytest.fixture(scope="module", params=SAMPLES)
def sample(request) -> tuple[Game, int, list[tuple[DialogueTree, float]]]:
    game, rollout, num_roots = SAMPLES[request.param]
    return game, num_roots, list(all_trees(game, rollout))


@pytest.mark.parametrize("name", CREDITS)
def test_the_mean_over_all_trees_is_the_policy_gradient(sample, name):
    game, num_roots, trees = sample
    exact = {past: num_roots * slope for past, slope in game.exact_gradient().items()}
    found = mean((estimate(game, CREDITS[name], tree), chance) for tree, chance in trees)
    assert distance(found, exact) < 1e-12


def test_uniform_credit_takes_whole_dialogues_for_an_exact_mean(sample):
    # it pays early turns for what later ones do, so what follows on a turn is not all it did
    game, num_roots, trees = sample
    exact = {past: num_roots * slope for past, slope in game.exact_gradient().items()}
    whole = mean((estimate(game, UNIFORM, tree, whole=True), chance) for tree, chance in trees)
    assert distance(whole, exact) < 1e-12
    followed = mean((estimate(game, UNIFORM, tree), chance) for tree, chance in trees)
    assert (distance(followed, exact) < 1e-12) == (game.num_turns == 1)


def test_comparing_branches_varies_less_than_counting_what_followed():
    trees = list(all_trees(SHORT, uncut(beam_size=4, max_steps=2)))

    def squared(credit: Credit) -> float:
        squares = (
            probability * sum(slope**2 for slope in estimate(SHORT, credit, tree).values())
            for tree, probability in trees
        )
        return fsum(squares)

    assert squared(TREE) < squared(GoalEventsCredit()) / 2


@pytest.mark.parametrize("breaks_at", [{4}, {1}, {5, 6}, {3, 5}, {1, 3}])
def test_branches_that_break_whatever_the_agent_does_change_no_mean(breaks_at):
    # calls 1 and 2 are the first turns, 3 to 6 the second ones: 5 and 6 are all below call 2
    rollout = uncut(beam_size=4, max_steps=2)
    trees = list(all_trees(SHORT, rollout, frozenset(breaks_at)))
    for credit in CREDITS.values():
        found = mean((estimate(SHORT, credit, tree), chance) for tree, chance in trees)
        assert distance(found, SHORT.exact_gradient()) < 1e-12


@pytest.mark.parametrize(
    ("game", "rollout"), [(LONG, josh(beam_size=2, max_steps=3)), (UNEVEN, BY_BUDGET)]
)
def test_where_a_reward_decides_what_is_cut_the_mean_is_another(game, rollout):
    assert rollout.cuts_branches
    trees = list(all_trees(game, rollout))
    found = mean((estimate(game, TREE, as_if_ended(tree)), chance) for tree, chance in trees)
    num_roots = fsum(chance * sum(n.parent is None for n in tree.nodes) for tree, chance in trees)
    exact = {past: num_roots * slope for past, slope in game.exact_gradient().items()}
    assert distance(found, exact) > 0.01


def as_if_ended(tree: DialogueTree) -> DialogueTree:
    """The tree with its cut branches passed off as finished ones."""
    for leaf in tree.leaves():
        if leaf.stop in (StopReason.COLLAPSED, StopReason.BUDGET):
            leaf.stop = StopReason.MAX_TURNS
    return tree


def test_a_tree_with_cut_branches_is_refused():
    trees = [tree for tree, _ in all_trees(LONG, josh(beam_size=2, max_steps=3))]
    cut = [t for t in trees if any(n.stop is StopReason.COLLAPSED for n in t.nodes)]
    assert cut
    for tree in cut:
        with pytest.raises(DataError, match=r"task task, trial 0: .*collapse_to=never"):
            TREE.assign(tree)
