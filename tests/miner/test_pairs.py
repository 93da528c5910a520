"""Pairs of tries: by the labels of the search, and by what playing on has shown."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from agent.react_agents import react
from miner.groves import Grove, call, labels, mined, say, unread

from drl.errors import ConfigError, DataError
from drl.miner.base import DPORow, Row
from drl.miner.margin import MarginMiner, probably_higher
from drl.miner.siblings import SiblingsMiner
from drl.tree.chance import Chance
from drl.types import Failure, StopReason

SIBLINGS = SiblingsMiner(max_per_node=None, max_per_tree=None, max_length_ratio=None)
MARGIN = MarginMiner(threshold=0.6, max_per_node=None, max_per_tree=None, max_length_ratio=None)
NORTH = 'CALL {"search_hotel":{"area":"north"}}'
FOUND = "RETURN name=north"
EVEN, GOOD, BAD = Chance(a=1, b=1), Chance(a=2, b=1), Chance(a=1, b=2)


def pairs(rows: list[Row]) -> list[tuple[list[str], str, str]]:
    """Prompts without the system's, what is chosen and what is rejected."""
    read: list[tuple[list[str], str, str]] = []
    for row in rows:
        assert isinstance(row, DPORow)
        before = [message.content for message in row.prompt[1:]]
        read.append((before, row.chosen.content, row.rejected.content))
    return read


def fork(*others: tuple[str, ...]) -> Grove:
    """After the opening one try calls and wins; others say something, calling first or not."""
    tree = Grove()
    opening = tree.ask(None, "hi")
    tree.win(opening, call("north"), say("found"))
    for *calls, text in others:
        steps = [call(area) for area in calls]
        tree.act(opening, *steps, say(text), stop=StopReason.MAX_TURNS)
    return tree


def test_a_pair_stands_where_the_two_tries_part():
    tree = fork(("north", "nothing"), ("what?",))
    rows = mined(SIBLINGS, "dpo", tree)
    assert pairs(rows) == [
        (["hi", NORTH, FOUND], "SAY found", "SAY nothing"),
        (["hi"], NORTH, "SAY what?"),
    ]
    first = rows[0]
    assert isinstance(first, DPORow)
    assert (first.origin.nodes, first.origin.step) == ((1,), 1)
    assert (first.rejected_origin.nodes, first.rejected_origin.step) == ((2,), 1)
    assert first.weight == 1.0


def test_labelled_steps_are_those_of_the_pairs_each_once():
    tree = fork(("what?",), ("never",))
    assert labels(mined(SIBLINGS, "kto", tree)) == [
        (["hi"], NORTH, True),
        (["hi"], "SAY what?", False),
        (["hi"], "SAY never", False),
    ]


def test_tries_that_do_the_same_make_no_pair():
    assert mined(SIBLINGS, "dpo", fork(("north", "found"))) == []


def test_plans_that_the_form_does_not_show_make_no_difference():
    tree = fork(("south", "found"))
    plain = replace(call("north"), text="?", plan="I look north")
    twin = replace(tree.nodes[2].turn, steps=(plain, say("found")))
    tree.nodes[2].turn = twin
    assert mined(SIBLINGS, "dpo", tree, react("compact")) == []
    assert len(mined(SIBLINGS, "dpo", tree, react("full"))) == 1


def test_what_a_success_did_as_well_is_no_mistake():
    tree = fork(("south", "nothing"))
    paid = tree.act(0, call("south"), say("there"), events=tree.nodes[1].events)
    tree.nodes[paid].stop = StopReason.COLLAPSED
    tree.mark_successful()
    south = 'CALL {"search_hotel":{"area":"south"}}'
    assert pairs(mined(SIBLINGS, "dpo", tree)) == [
        (["hi", south, "RETURN name=south"], "SAY there", "SAY nothing")
    ]


def test_equal_calls_with_different_returns_leave_nothing_to_compare():
    tree = fork()
    other = replace(call("north"), results=call("elsewhere").results)
    tree.act(0, other, say("nothing"), stop=StopReason.MAX_TURNS)
    assert mined(SIBLINGS, "dpo", tree) == []


@pytest.mark.parametrize(
    "end",
    [
        {"stop": StopReason.COLLAPSED, "censored": True},
        {"stop": StopReason.COLLAPSED},
        {"stop": StopReason.BUDGET, "censored": True},
        {"stop": StopReason.ERROR},
        {"stop": StopReason.CONTEXT_OVERFLOW, "failure": Failure("context_overflow", "long")},
    ],
)
def test_a_try_whose_end_is_not_known_is_in_no_pair(end):
    tree = fork()
    tree.act(0, say("what?"), **end)
    assert mined(SIBLINGS, "dpo", tree) == []


def test_a_try_of_which_a_branch_broke_is_not_known_to_fail():
    tree = fork()
    wrong = tree.act(0, say("what?"))
    tree.act(tree.ask(wrong), say("no"), stop=StopReason.MAX_TURNS)
    tree.ask(wrong, "", stop=StopReason.ERROR, failure=Failure("user_simulator", "broke"))
    assert mined(SIBLINGS, "dpo", tree) == []


def test_what_cannot_be_read_is_rejected_and_never_chosen():
    tree = Grove()
    opening = tree.ask(None, "hi")
    tree.win(opening, unread("hm"), say("found"))
    tree.act(opening, unread("huh"), say("no"), stop=StopReason.MAX_TURNS)
    assert mined(SIBLINGS, "dpo", tree) == []
    tree = fork()
    tree.act(0, unread("huh"), say("no"), stop=StopReason.MAX_TURNS)
    assert pairs(mined(SIBLINGS, "dpo", tree)) == [(["hi"], NORTH, "huh")]


def test_an_output_that_a_limit_of_tokens_cut_is_in_no_pair():
    cut = replace(say("wait"), is_cut=True)
    tree = fork()
    tree.act(0, cut, stop=StopReason.MAX_TURNS)
    assert mined(SIBLINGS, "dpo", tree) == []
    tree = Grove()
    tree.win(tree.ask(None, "hi"), cut)
    tree.act(0, say("no"), stop=StopReason.MAX_TURNS)
    assert mined(SIBLINGS, "dpo", tree) == mined(SIBLINGS, "kto", tree) == []


def test_tries_that_part_inside_a_turn_share_what_was_done_before():
    tree = Grove()
    shared = tree.act(tree.ask(None, "hi"), call("north"))
    tree.win(shared, say("found"))
    tree.act(shared, say("nothing"), stop=StopReason.MAX_TURNS)
    assert pairs(mined(SIBLINGS, "dpo", tree)) == [
        (["hi", NORTH, FOUND], "SAY found", "SAY nothing")
    ]


def test_limits_are_on_pairs():
    tree = fork(*((str(number),) for number in range(9)))
    for limit in ("max_per_node", "max_per_tree"):
        limited = replace(SIBLINGS, **{limit: 2})
        assert len(mined(limited, "dpo", tree)) == 2
        assert len(mined(limited, "kto", tree)) == 3
    # the call has 39 characters, so a factor of 1.5 allows 26 to 58
    matched = replace(SIBLINGS, max_length_ratio=1.5)
    tree = fork(("x" * 21,), ("x" * 22,))
    assert [row[2] for row in pairs(mined(matched, "dpo", tree))] == [f"SAY {'x' * 22}"]


def resampled(chances: Mapping[int, Chance], miner: MarginMiner = MARGIN) -> list[Row]:
    tree = Grove()
    opening = tree.ask(None, "hi")
    for text in ("one", "two"):
        tree.act(opening, say(text), stop=StopReason.MAX_TURNS)
    return mined(miner, "dpo", tree, chances=chances)


def test_a_try_is_chosen_if_it_is_probably_better_and_that_probability_is_the_weight():
    # P(x > y) for Beta(2, 1) and Beta(1, 1): the integral of 2x * x is 2/3
    (row,) = resampled({1: EVEN, 2: GOOD})
    assert isinstance(row, DPORow)
    assert pairs([row]) == [(["hi"], "SAY two", "SAY one")]
    assert row.weight == pytest.approx(2 / 3, abs=1e-9)


def test_a_try_that_is_not_surely_better_makes_no_pair():
    assert resampled({1: EVEN, 2: GOOD}, replace(MARGIN, threshold=0.67)) == []
    assert resampled({1: EVEN, 2: EVEN}) == []
    assert resampled({1: EVEN}) == []


def test_trees_that_nobody_played_on_are_refused_with_the_command_that_does():
    with pytest.raises(DataError, match=r"task task, trial 0, was played on.*`drl resample RUN`"):
        resampled({})


def test_a_tree_without_choices_needs_no_resampling():
    tree = Grove()
    tree.win(tree.ask(None, "hi"), say("found"))
    assert mined(MARGIN, "dpo", tree) == []


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (EVEN, EVEN, 1 / 2),
        (GOOD, EVEN, 2 / 3),  # integral of 2x * x
        (GOOD, BAD, 5 / 6),  # integral of 2x * (1 - (1 - x)^2)
        (Chance(a=0.5, b=0.5), Chance(a=0.5, b=0.5), 1 / 2),
        (Chance(a=3, b=1), Chance(a=1, b=1), 3 / 4),  # its mean
        (Chance(a=1, b=1), Chance(a=0.5, b=4.5), 0.9),  # one minus the mean of the other
    ],
)
def test_the_probability_of_being_better_is_exact(one, other, expected):
    assert probably_higher(one, other) == pytest.approx(expected, abs=1e-8)
    assert probably_higher(other, one) == pytest.approx(1 - expected, abs=1e-8)


def test_it_is_exact_for_thousands_of_tries_as_well():
    for one in (Chance(a=5000.5, b=0.5), Chance(a=2000.5, b=3000.5), Chance(a=0.5, b=0.5)):
        for other in (Chance(a=0.5, b=9000.5), Chance(a=2010.5, b=3000.5)):
            total = probably_higher(one, other) + probably_higher(other, one)
            assert total == pytest.approx(1, abs=1e-7)


@pytest.mark.parametrize("threshold", [0.5, 1.0, float("nan")])
def test_a_threshold_that_decides_nothing_is_refused(threshold):
    with pytest.raises(ConfigError, match=r"miner\.threshold="):
        replace(MARGIN, threshold=threshold)
