"""Several tries at tasks of tau-bench: pass^k by its formula, with intervals over tasks."""

from dataclasses import replace
from math import comb

import pytest
from tau.serving import CANCEL, agent, cast, does, played, says, shop

from drl.evaluation.summary import tally

DONE, NOT = agent(does(CANCEL), says("Done.")), agent(says("No."))
SUCCESSES = {0: (True, True, True, False), 1: (False, False, True, False)}
"""By task, four tries."""


def summed_up() -> dict:
    tasks = {
        index: replace(shop(CANCEL, index=index), groups={"user": group})
        for index, group in ((0, "seen"), (1, "unseen"))
    }
    trees = [
        played(tasks[index], cast(DONE if is_done else NOT), trial=trial)
        for index, tries in SUCCESSES.items()
        for trial, is_done in enumerate(tries)
    ]
    return tally(tasks.values(), trees).to_json()


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_pass_hat_k_is_the_mean_over_tasks_of_c_over_k_by_n_over_k(k):
    # k=1: (3/4 + 1/4) / 2 = 0.5; k=2: (3/6 + 0) / 2 = 0.25; k=3: (1/4 + 0) / 2; k=4: 0
    expected = sum(comb(sum(tries), k) / comb(4, k) for tries in SUCCESSES.values()) / 2
    assert expected == [0.5, 0.25, 0.125, 0.0][k - 1]
    assert summed_up()["pass_hat_k"][str(k)]["value"] == pytest.approx(expected, abs=1e-12)


def test_intervals_are_over_tasks_and_not_over_tries():
    found = summed_up()
    assert (found["n_tasks"], found["n_trials"], found["n_scored"]) == (2, 4, 8)
    mean = found["mean_reward"]
    # tasks are drawn with all of their tries: a quarter of the time both are the one, or the other
    assert (mean["value"], mean["low"], mean["high"], mean["n"]) == (0.5, 0.25, 0.75, 2)
    assert found["pass_hat_k"]["1"] == mean


def test_seen_and_unseen_customers_are_reported_apart():
    groups = summed_up()["per_group"]
    assert {name: (group["value"], group["n"]) for name, group in groups.items()} == {
        "user: seen": (0.75, 1),
        "user: unseen": (0.25, 1),
    }
