"""Rows of all trees together: once each, without contradictions, counted."""

from dataclasses import replace

import pytest
from mining.forest import ListedMiner, agent_of, labelled, message, source_of, tree_of
from scripted import ScriptedAgent, say

from drl.errors import ConfigError, DataError
from drl.miner.base import DPORow
from drl.mining.mine import mine
from drl.tree.dialogue_tree import DialogueTree
from drl.types import RewardEvent, Role, StopReason, Turn


def mined(rows, *trees, form="kto"):
    return mine(ListedMiner(rows), [source_of(*trees, agent=agent_of("react"))], None, form)


def test_an_output_that_is_good_in_a_later_tree_is_not_bad_in_an_earlier_one():
    # three bad outputs, of which "x" is good after the same prompt; "x" after another prompt stays
    rows = {
        "a": [labelled("p", "x", label=False), labelled("p", "y", label=False)],
        "b": [labelled("p", "x", label=True), labelled("q", "x", label=False, task="b")],
    }
    found = mined(rows, tree_of("a"), tree_of("b", score=0.5))
    kept = [(r.prompt[0].content, r.completion.content, r.label) for r in found]
    assert kept == [("p", "y", False), ("p", "x", True), ("q", "x", False)]
    counts = found.counts
    assert (counts.positives, counts.negatives, counts.conflicts) == (1, 3, 1)
    assert (counts.trees, counts.full_success, counts.golden_paths) == (2, 1, 2)
    assert (counts.rows, counts.duplicates) == (3, 0)
    assert counts.tasks == {"test": {"a", "b"}}


def test_equal_rows_are_given_once_wherever_they_come_from():
    row = labelled("p", "x", label=True)
    found = mined(
        {"a": [row, row], "b": [labelled("p", "x", label=True, task="b")]}, *map(tree_of, "ab")
    )
    assert list(found) == [row]
    assert (found.counts.rows, found.counts.duplicates, found.counts.positives) == (1, 2, 1)


def test_mining_again_gives_the_same_rows_and_counts():
    found = mined({"a": [labelled("p", t, label=t < "c") for t in "abcd"]}, tree_of("a"))
    first, counts = list(found), found.counts.to_json()
    assert list(found) == first
    assert found.counts.to_json() == counts


def test_whole_dialogues_count_their_trained_outputs():
    found = mined({"a": [labelled("p", "x", label=True)]}, tree_of("a"), tree_of("b"), form="sft")
    assert [row.messages[0].content for row in found] == ["a"]
    assert (found.counts.positives, found.counts.golden_paths) == (1, 1)


@pytest.mark.parametrize(
    ("trees", "message"),
    [
        ((), "outputs/run/1: there are no trees"),
        ((tree_of("a", None, StopReason.ERROR),), "outputs/run/1: all 1 trees are broken"),
        ((tree_of("a", 0.5), tree_of("b", 0.0)), "in 2 trees, none of which reached all goals"),
        ((tree_of("a"), tree_of("b", 0.0)), "finds no kto rows in 2 trees, 1 of which reached"),
        ((tree_of("gone"),), "trees are of task gone, which its dataset does not hold now"),
    ],
)
def test_no_rows_is_an_error_that_says_why(trees, message):
    with pytest.raises(DataError, match=message):
        list(mined({}, *trees))


def test_an_agent_without_a_model_cannot_be_learned_from_as_it_writes():
    source = source_of(tree_of("a"), agent=ScriptedAgent(lambda _: say()))
    with pytest.raises(ConfigError, match=r"^agent: ScriptedAgent, .* --agent react/compact\)$"):
        mine(ListedMiner({}), [source], None, "sft")
    mine(ListedMiner({}), [source], agent_of("react/compact"), "sft")


def test_a_form_that_the_policy_does_not_give_is_refused():
    with pytest.raises(ConfigError, match="ListedMiner gives no dpo rows, only sft, kto"):
        mined({}, form="dpo")


class PairedMiner(ListedMiner):
    """Gives pairs."""

    forms = ("dpo",)

    def mine(self, harvest, form):
        return super().mine(harvest, "kto")


def pair(better, worse, task="a"):
    row = labelled("p", better, label=True, task=task)
    return DPORow(
        prompt=row.prompt,
        chosen=row.completion,
        rejected=message(worse),
        origin=row.origin,
        rejected_origin=row.origin,
    )


def test_of_pairs_that_contradict_each_other_neither_is_a_row():
    rows = {
        "a": [pair("x", "y"), pair("y", "z")],
        "b": [pair("y", "x", "b"), pair("x", "v", "b")],
    }
    source = source_of(*map(tree_of, "ab"), agent=agent_of("react"))
    found = mine(PairedMiner(rows), [source], None, "dpo")
    kept = [(row.chosen.content, row.rejected.content) for row in found]
    assert kept == [("y", "z"), ("x", "v")]
    assert (found.counts.conflicts, found.counts.pairs, found.counts.rows) == (2, 4, 2)


def test_places_of_choice_are_counted_by_what_is_known_of_their_tries():
    def chosen_between(*stops_and_scores):
        tree = DialogueTree("a", 0, len(stops_and_scores))
        root = tree.add(None, Turn(Role.USER, "hi"), ())
        for number, (stop, score) in enumerate(stops_and_scores):
            leaf = tree.add(root.id, Turn(Role.AGENT, f"try {number}"), ())
            leaf.stop, leaf.score = stop, score
            if score:
                leaf.events = (RewardEvent(score, "goal"),)
        return tree

    paid, failed = (StopReason.GOALS_REACHED, 1.0), (StopReason.USER_ENDED, 0.0)
    cut = (StopReason.COLLAPSED, 0.0)
    trees = [chosen_between(paid, failed), chosen_between(paid, cut), chosen_between(paid, paid)]
    found = mined({"a": [labelled("p", "x", label=True)]}, *trees)
    list(found)
    counts = found.counts
    assert (counts.choices, counts.choices_contrast, counts.choices_unresolved) == (3, 1, 1)


def test_rows_do_not_depend_on_the_order_of_sources():
    rows = {"a": [labelled("p", "x", label=True), labelled("p", "y", label=False)]}
    sources = [
        replace(source_of(tree_of("a"), agent=agent_of("react")), name=name) for name in "21"
    ]
    some, others = (
        list(mine(NamingMiner(rows), order, None, "kto")) for order in (sources, sources[::-1])
    )
    assert some == others
    assert {row.origin.run for row in some} == {"1"}


class NamingMiner(ListedMiner):
    """Rows that tell from which run they are."""

    def mine(self, harvest, form):
        for row in super().mine(harvest, form):
            yield replace(row, origin=replace(row.origin, run=harvest.run))
