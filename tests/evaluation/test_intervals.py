import numpy as np
import pytest

from drl.evaluation.intervals import mean_over_tasks, pass_hat_k


def test_trials_are_averaged_within_a_task_before_tasks_are():
    # task a: mean of 1, 0, 0, 1 is 0.5; task b: 1; their mean is 0.75, not 3/5
    estimate = mean_over_tasks({"a": [1, 0, 0, 1], "b": [1]})
    assert estimate.value == 0.75
    assert estimate.n == 2


def test_the_interval_covers_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(100):
        draws = rng.random(60) < 0.3
        estimate = mean_over_tasks({str(i): [float(x)] for i, x in enumerate(draws)})
        hits += estimate.low <= 0.3 <= estimate.high
    # 95 of 100 in the long run; 86 is four standard deviations below
    assert hits >= 86


def test_equal_tasks_give_an_interval_of_width_zero():
    estimate = mean_over_tasks({"a": [1.0], "b": [1.0]})
    assert (estimate.low, estimate.high) == (1.0, 1.0)


def test_the_order_of_tasks_does_not_show():
    values = {str(i): [float(i % 3)] for i in range(20)}
    assert mean_over_tasks(values) == mean_over_tasks(dict(reversed(values.items())))


def test_nothing_to_average_is_none_not_zero():
    assert mean_over_tasks({}) is None
    assert mean_over_tasks({"a": []}) is None


def test_pass_hat_k_counts_subsets_of_trials():
    # 2 of 4 succeed: C(2,2)/C(4,2) = 1/6; 4 of 4: 1; mean 7/12
    trials = {"a": [True, True, False, False], "b": [True] * 4}
    assert pass_hat_k(trials, 2).value == pytest.approx(7 / 12)
    assert pass_hat_k(trials, 1).value == pytest.approx(3 / 4)
    assert pass_hat_k(trials, 3).value == pytest.approx(1 / 2)
    assert pass_hat_k(trials, 5) is None
