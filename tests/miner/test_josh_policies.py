"""The recipe of josh-train and its clean form, on trees small enough to be worked out."""

from dataclasses import replace

import pytest
from agent.react_agents import react
from agent.test_rewrite import CALLING
from miner.groves import (
    COMPACT,
    REWARD,
    Grove,
    call,
    labels,
    mined,
    say,
    unread,
)

from drl.agent.rule import RuleAgent
from drl.errors import ConfigError
from drl.miner.base import Origin, SFTRow
from drl.miner.josh_clean import JoshCleanMiner
from drl.miner.josh_paper import JoshPaperMiner
from drl.play.moves import OUT_OF_CALLS
from drl.tree.codec import from_line, to_line
from drl.types import Failure, Role, Step, StopReason, ToolResult, Turn

PAPER = JoshPaperMiner()
CLEAN = JoshCleanMiner(
    full_success_only=True, max_per_node=None, max_per_tree=None, max_length_ratio=None
)
NORTH = 'CALL {"search_hotel":{"area":"north"}}'
FOUND = "RETURN name=north"


def fork(**marks: object) -> Grove:
    """Of three tries the first wins, the second goes along for a call, the third is cut."""
    tree = Grove()
    opening = tree.ask(None, "hi")
    tree.win(opening, call("north"), say("found"))
    tree.act(opening, call("north"), say("nothing"), stop=StopReason.USER_ENDED)
    cut: dict[str, object] = {"stop": StopReason.COLLAPSED, "censored": True}
    tree.act(opening, say("what?"), **cut | marks)
    return tree


GOOD = [(["hi"], NORTH, True), (["hi", NORTH, FOUND], "SAY found", True)]


def test_the_paper_takes_every_golden_output_and_the_failed_turns_after_the_same_prompts():
    assert labels(mined(PAPER, "kto", fork())) == [
        *GOOD,
        (["hi"], NORTH, False),  # equal to a golden one: the conflict that mining drops
        (["hi", NORTH, FOUND], "SAY nothing", False),
        (["hi"], "SAY what?", False),
    ]


def test_the_clean_form_takes_only_the_step_that_was_wrong_and_no_branch_that_was_cut():
    rows = mined(CLEAN, "kto", fork())
    assert labels(rows) == [*GOOD, (["hi", NORTH, FOUND], "SAY nothing", False)]


def test_a_cut_branch_counts_for_the_clean_form_once_continuations_failed():
    wrong = (["hi"], "SAY what?", False)
    assert wrong in labels(mined(CLEAN, "kto", fork(resolved=(0, 2))))
    assert wrong not in labels(mined(CLEAN, "kto", fork(resolved=(1, 2))))


def test_a_cut_branch_that_a_run_labelled_failed_is_unknown_all_the_same():
    assert labels(mined(CLEAN, "kto", fork(censored=False)))[2:] == [
        (["hi", NORTH, FOUND], "SAY nothing", False)
    ]


def test_rows_say_where_they_come_from():
    positive, last, negative = (row.origin for row in mined(CLEAN, "kto", fork()))
    assert positive == Origin(run="run", task_id="task", trial=0, nodes=(1,), step=0, events=REWARD)
    assert (last.nodes, last.step) == ((1,), 1)
    assert (negative.nodes, negative.step, negative.events) == ((2,), 1, ())


@pytest.mark.parametrize("miner", [PAPER, CLEAN])
def test_a_dialogue_is_learned_whole_down_to_its_last_goal(miner):
    tree = fork()
    goodbye = tree.ask(1, "bye")
    tree.act(goodbye, say("bye"), stop=StopReason.USER_ENDED)
    (row,) = mined(miner, "sft", tree)
    assert isinstance(row, SFTRow)
    assert [message.content for message in row.messages[1:]] == [
        *("hi", NORTH, FOUND, "SAY found"),
    ]
    assert row.trained == (2, 4)
    assert row.origin.nodes == (1,)
    assert row.origin.step is None


@pytest.mark.parametrize("miner", [PAPER, CLEAN])
def test_rows_for_native_calls_name_the_tools(miner):
    for form in miner.forms:
        for row in mined(miner, form, fork(), CALLING):
            assert [tool.name for tool in row.tools] == ["search_hotel", "book_hotel"]


def test_where_not_all_goals_were_reached_the_clean_form_learns_only_if_told_to():
    tree = Grove(num_goals=2)
    opening = tree.ask(None, "hi")
    tree.win(opening, say("one"), open_goals=(1,), stop=None)
    later = tree.ask(1, "more")
    tree.act(later, say("lost"), open_goals=(1,), stop=StopReason.MAX_TURNS)
    assert mined(PAPER, "kto", tree) == mined(CLEAN, "kto", tree) == []
    lenient = replace(CLEAN, full_success_only=False)
    assert labels(mined(lenient, "kto", tree)) == [(["hi"], "SAY one", True)]


@pytest.mark.parametrize("miner", [PAPER, replace(CLEAN, full_success_only=False)])
def test_trees_without_any_success_give_nothing(miner):
    empty, failed = Grove(), Grove()
    failed.act(failed.ask(None), say("no"), stop=StopReason.MAX_TURNS, score=0.0)
    for tree in (empty, failed):
        for form in miner.forms:
            assert mined(miner, form, tree) == []


@pytest.mark.parametrize("miner", [PAPER, CLEAN])
def test_of_independent_dialogues_that_no_search_chose_from_the_best_is_learned(miner):
    tree = Grove()
    for text, score in (("no", 0.0), ("yes", 1.0)):
        opening = tree.ask(None, "hi")
        end = tree.act(opening, say(text), stop=StopReason.MAX_TURNS, score=score)
        if score:
            tree.nodes[end].open_goals, tree.nodes[end].events = (), REWARD
    tree.mark_successful()
    assert (["hi"], "SAY yes", True) in labels(mined(miner, "kto", tree))


@pytest.mark.parametrize(
    "noise",
    [
        unread("gibberish"),
        call("x", ToolResult(None, error="no such area")),
        call("x", ToolResult("ERROR: no such area")),
        call("x", ToolResult({"detail": ["FAILURE"]})),
    ],
)
def test_an_error_ends_it_for_the_paper_and_stays_unlearned_in_the_clean_form(noise):
    tree = Grove()
    tree.win(tree.ask(None, "hi"), noise, say("found"))
    (row,) = mined(CLEAN, "sft", tree)
    assert isinstance(row, SFTRow)
    assert [row.messages[place].content for place in row.trained] == ["SAY found"]
    assert any(message.content == noise.text for message in row.messages)
    (only,) = labels(mined(CLEAN, "kto", tree))
    assert only[1:] == ("SAY found", True)
    words = str(noise.results)
    is_worded = any(word in words for word in ("ERROR:", "FAILURE"))
    assert bool(mined(PAPER, "sft", tree)) == (not is_worded)


def test_the_paper_keeps_the_same_dialogues_in_every_form():
    tree = Grove()
    told = ToolResult(None, error="ERROR: not found")
    tree.win(tree.ask(None, "hi"), call("x", told), say("found"))
    for style in ("full", "compact", "paper"):
        assert mined(PAPER, "sft", tree, react(style)) == []


def test_a_reply_that_stands_in_for_the_agent_s_is_never_learned():
    tree = Grove()
    first = tree.act(tree.ask(None, "hi"), Step("CALL", reply=OUT_OF_CALLS))
    tree.win(tree.ask(first, "well?"), say("found"))
    assert [row[1] for row in labels(mined(CLEAN, "kto", tree))] == ["SAY found"]


@pytest.mark.parametrize(
    "amiss", [replace(say("I have fou"), is_cut=True), say("I have \N{REPLACEMENT CHARACTER}")]
)
def test_a_cut_output_or_one_that_is_no_text_stays_unlearned_but_for_the_paper(amiss):
    tree = Grove()
    opening = tree.ask(None, "hi")
    first = tree.act(opening, amiss)
    tree.win(tree.ask(first, "well?"), say("found"))
    for sibling in (say("no"), amiss, replace(amiss, text="SAY huh", reply="huh", is_cut=True)):
        tree.act(opening, sibling, stop=StopReason.MAX_TURNS)
    (row,) = mined(CLEAN, "sft", tree)
    assert [row.messages[place].content for place in row.trained] == ["SAY found"]
    assert row.messages[2].content == amiss.text
    assert labels(mined(CLEAN, "kto", tree))[0][1:] == ("SAY found", True)
    assert not any(amiss.text in output for _, output, _ in labels(mined(CLEAN, "kto", tree)))
    (whole,) = mined(PAPER, "sft", tree)
    assert whole.trained == (2, 4)
    from_file = from_line(to_line(tree))
    assert mined(CLEAN, "sft", from_file) == [row]


def test_calls_beyond_the_limit_of_the_agent_that_learns_are_not_learned():
    tree = Grove()
    tree.win(tree.ask(None, "hi"), *(call(area) for area in "abcd"), say("found"))
    rows = mined(CLEAN, "kto", tree)
    outputs = [row[1] for row in labels(rows)]
    assert outputs == [call(area).text for area in "abc"] + ["SAY found"]
    last = labels(rows)[-1][0][-1]
    assert last == "RETURN name=d\n\n(No more calls now. Answer with SAY.)"


def test_a_turn_that_a_search_parted_is_one_turn():
    tree = Grove()
    opening = tree.ask(None, "hi")
    shared = tree.act(opening, call("north"))
    tree.win(shared, say("found"))
    tree.act(shared, say("nothing"), stop=StopReason.MAX_TURNS)
    wrong = (["hi", NORTH, FOUND], "SAY nothing", False)
    assert labels(mined(CLEAN, "kto", tree)) == [*GOOD, wrong]
    assert labels(mined(PAPER, "kto", tree)) == [*GOOD, (["hi"], NORTH, False), wrong]
    assert [row.origin.nodes for row in mined(CLEAN, "kto", tree)] == [(1,), (2,), (3,)]
    (whole,) = mined(CLEAN, "sft", tree)
    assert whole.origin.nodes == (1, 2)


def test_turns_by_which_a_branch_grew_in_a_full_beam_are_one_node_for_the_paper():
    tree = Grove()
    opening = tree.ask(None, "hi")
    tree.win(opening, say("found"))
    first = tree.act(opening, say("what?"))
    tree.act(tree.ask(first, "well"), say("nothing"), stop=StopReason.COLLAPSED)
    assert labels(mined(PAPER, "kto", tree)) == [(["hi"], "SAY found", True)]
    tree.act(3, say("never"), stop=StopReason.COLLAPSED)  # it branches next, so it is a node
    assert labels(mined(PAPER, "kto", tree))[1:] == [(["hi"], "SAY what?", False)]


@pytest.mark.parametrize(
    "end",
    [
        {"stop": StopReason.ERROR, "failure": Failure("agent", "broke")},
        {"stop": StopReason.CONTEXT_OVERFLOW, "failure": Failure("context_overflow", "long")},
    ],
)
def test_a_turn_that_broke_is_no_bad_example(end):
    for miner in (PAPER, CLEAN):
        tree = Grove()
        opening = tree.ask(None, "hi")
        tree.win(opening, say("found"))
        tree.act(opening, call("north"), **end)
        assert labels(mined(miner, "kto", tree)) == [(["hi"], "SAY found", True)]


@pytest.mark.parametrize("stop", [StopReason.ERROR, StopReason.CONTEXT_OVERFLOW])
def test_a_fault_of_the_customer_says_nothing_of_the_agent(stop):
    tree = Grove()
    opening = tree.ask(None, "hi")
    tree.win(opening, say("found"))
    blameless = tree.act(opening, say("wait"))
    tree.ask(blameless, "", stop=stop, failure=Failure("user_simulator", "broke"))
    assert labels(mined(CLEAN, "kto", tree)) == [(["hi"], "SAY found", True)]


def test_a_customer_who_hangs_up_is_the_agent_s_failure():
    tree = Grove()
    opening = tree.ask(None, "hi")
    tree.win(opening, say("found"))
    rude = tree.act(opening, say("no"))
    node = tree.add(rude, Turn(Role.USER, "bye", hangs_up=True), (0,))
    node.stop = StopReason.USER_ENDED
    assert (["hi"], "SAY no", False) in labels(mined(CLEAN, "kto", tree))


def wide(*wrong: str) -> Grove:
    tree = Grove()
    opening = tree.ask(None, "hi")
    tree.win(opening, say("found"))
    for text in wrong:
        tree.act(opening, say(text), stop=StopReason.MAX_TURNS)
    return tree


@pytest.mark.parametrize("limit", ["max_per_node", "max_per_tree"])
def test_of_more_bad_outputs_than_the_limit_the_same_ones_are_drawn_each_time(limit):
    tree = wide(*map(str, range(20)))
    limited = replace(CLEAN, **{limit: 3})
    bad = [row for row in labels(mined(limited, "kto", tree)) if not row[2]]
    assert len(bad) == 3
    assert bad == [row for row in labels(mined(limited, "kto", tree)) if not row[2]]
    assert [row[1] for row in bad] != ["SAY 0", "SAY 1", "SAY 2"]


def test_equal_tries_count_once_before_the_limit_is_applied():
    tree = wide("no", "no", "no", "never")
    limited = replace(CLEAN, max_per_node=2)
    bad = [text for _, text, good in labels(mined(limited, "kto", tree)) if not good]
    assert bad == ["SAY no", "SAY never"]


def test_outputs_of_another_length_are_dropped_where_lengths_are_matched():
    # SAY found has 9 characters, so a factor of 2 allows 5 to 18
    tree = wide("x" * 14, "x" * 15, "xx")
    matched = replace(CLEAN, max_length_ratio=2.0)
    bad = [text for _, text, good in labels(mined(matched, "kto", tree)) if not good]
    assert bad == [f"SAY {'x' * 14}", "SAY xx"]


@pytest.mark.parametrize(
    "wrong", [{"max_per_node": 0}, {"max_per_tree": -1}, {"max_length_ratio": 0.5}]
)
def test_impossible_limits_are_refused(wrong):
    (name,) = wrong
    with pytest.raises(ConfigError, match=f"miner.{name}="):
        replace(CLEAN, **wrong)


def test_the_agent_that_learns_must_speak_through_a_model():
    with pytest.raises(ConfigError, match="speaks through no model"):
        mined(CLEAN, "sft", fork(), RuleAgent(temperature=0.0, max_tool_calls=3))
    assert COMPACT.uses_llm
