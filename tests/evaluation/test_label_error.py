import pytest

from drl.evaluation.label_error import Continuation, Sibling, branches, summarise
from drl.types import Outcome


def sibling(node: int, label: Outcome, task: str = "a", **changes) -> Sibling:
    facts = {
        "task_id": task,
        "trial": 0,
        "decision": 0,
        "node": node,
        "label": label,
        "num_open": 2,
        "num_turns": 1,
        "earned": False,
        "over": False,
        "full": None,
    }
    return Sibling(**facts | changes)


def played(node: int, hits: str, task: str = "a") -> list[Continuation]:
    """One continuation a letter: h a goal, f all goals, - none, x broken."""
    return [
        Continuation(
            task, 0, node, i, hit=c in "hf", full=c == "f", failure="x" * (c == "x") or None
        )
        for i, c in enumerate(hits)
    ]


def test_the_label_error_averages_tries_then_branches_then_tasks():
    # task a: failed 1/4 and 3/4, mean 1/2; task b: failed 0/2; over tasks 1/4
    found = summarise(
        branches(
            [
                sibling(1, Outcome.FAILED),
                sibling(2, Outcome.FAILED),
                sibling(1, Outcome.FAILED, "b"),
            ],
            played(1, "h---") + played(2, "hhf-") + played(1, "--", "b"),
        )
    )
    assert found["label_error"]["failed"]["value"] == pytest.approx(0.25)
    assert found["label_error"]["failed"]["n"] == 2
    assert found["label_error"]["censored"] is None
    row = found["labels"]["failed"]
    assert (row["n_branches"], row["n_continuations"], row["n_succeeded_once"]) == (3, 10, 2)
    # all goals: task a 0/4 and 1/4, task b 0/2
    assert row["full_success"]["value"] == pytest.approx((1 / 8 + 0) / 2)


def test_what_broke_is_counted_and_never_scored():
    all_branches = branches(
        [sibling(1, Outcome.FAILED), sibling(2, Outcome.FAILED)], played(1, "hx") + played(2, "xx")
    )
    row = summarise(all_branches)["labels"]["failed"]
    assert (row["n_broken"], row["n_unknown"]) == (3, 1)
    assert row["p_success"]["value"] == 1.0


def test_a_dialogue_that_is_over_has_no_chance_but_a_result():
    over = sibling(1, Outcome.GOLDEN, over=True, earned=True, full=True)
    lost = sibling(2, Outcome.FAILED, over=True, full=False)
    golden, failed = branches([over, lost], [])
    assert (golden.success, golden.full_success, golden.chance.low) == (1.0, 1.0, 1.0)
    assert (failed.success, failed.full_success, failed.chance.high) == (0.0, 0.0, 0.0)


def test_golden_branches_are_compared_with_their_own_siblings():
    # place 0: golden 1, failed 1/2; place 5 has no failed sibling: gap 1/2, not (1 + 0)/2 - 1/2
    found = summarise(
        branches(
            [
                sibling(1, Outcome.GOLDEN),
                sibling(2, Outcome.FAILED),
                sibling(6, Outcome.GOLDEN, decision=5),
                sibling(7, Outcome.CENSORED, decision=5),
            ],
            played(1, "hh") + played(2, "h-") + played(6, "--") + played(7, "hh"),
        )
    )
    assert found["golden_minus"]["failed"]["value"] == pytest.approx(0.5)
    assert found["golden_minus"]["censored"]["value"] == pytest.approx(-1.0)
