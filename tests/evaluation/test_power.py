import math

import numpy as np
import pytest
from scipy.stats import t

from drl.evaluation.intervals import mean_over_tasks
from drl.evaluation.power import detectable_difference, noise_floor


@pytest.mark.parametrize(("effect", "n"), [(0.2, 199), (0.5, 34), (0.8, 15)])
def test_the_sample_sizes_of_the_textbook_are_met(effect, n):
    # Cohen's small, medium and large effects, paired t test, two-sided 0.05, power 0.8 (G*Power)
    assert detectable_difference(1.0, n) <= effect < detectable_difference(1.0, n - 1)


def test_two_hundred_tasks_find_what_the_study_states():
    # (1.96 + 0.84) x sd / sqrt(200): 0.35 -> 0.069, 0.6 -> 0.119
    assert detectable_difference(0.35, 200) == pytest.approx(0.07, abs=0.001)
    assert detectable_difference(0.6, 200) == pytest.approx(0.12, abs=0.001)


def test_a_stricter_test_and_fewer_tasks_need_a_larger_difference():
    found = detectable_difference(1.0, 20)
    assert found < detectable_difference(1.0, 20, power=0.9)
    assert found < detectable_difference(1.0, 20, alpha=0.01)
    assert found < detectable_difference(1.0, 19)
    assert detectable_difference(1.0, 1) == math.inf


@pytest.mark.parametrize("n", [5, 40, 200])
def test_a_difference_of_that_size_is_found_four_times_in_five(n):
    rng = np.random.default_rng(0)
    gaps = rng.normal(detectable_difference(0.5, n), 0.5, size=(10_000, n))
    statistic = gaps.mean(axis=1) / (gaps.std(axis=1, ddof=1) / math.sqrt(n))
    # standard error of the share: sqrt(0.8 x 0.2 / 10,000) = 0.004
    assert (np.abs(statistic) > t.isf(0.025, n - 1)).mean() == pytest.approx(0.8, abs=0.012)


def test_the_floor_comes_from_how_trials_of_a_task_differ():
    # pooled variance: a has squares 0.5 + 0, b has 0 + 0.5, over 4 degrees of freedom: 1/4;
    # standard error: sqrt(1/4 x (4 x 1/2)) / 2 tasks; times 1.96
    floor = noise_floor({"a": [0, 1], "b": [1, 1]}, {"a": [1, 1], "b": [0, 1]})
    assert floor.source == "trials"
    assert floor.value == pytest.approx(1.96 * math.sqrt(0.25 * 2) / 2, rel=1e-3)


def test_without_repeated_trials_the_floor_comes_from_how_tasks_differ():
    # gaps 1, 0, -1, 0: variance 2/3
    first = {"a": [0], "b": [0], "c": [1], "d": [1], "e": [1]}
    second = {"a": [1], "b": [0], "c": [0], "d": [1]}
    floor = noise_floor(first, second)
    assert floor.source == "tasks"
    assert floor.value == pytest.approx(1.96 * math.sqrt(2 / 3 / 4), rel=1e-3)
    assert noise_floor({"a": [0]}, {"a": [1]}) is None


def two_runs(rng, chances, num_trials):
    draw = lambda: rng.random((len(chances), num_trials)) < chances[:, None]  # noqa: E731
    return [{str(i): [float(x) for x in row] for i, row in enumerate(draw())} for _ in range(2)]


@pytest.mark.parametrize("num_trials", [1, 2, 4])
def test_two_runs_of_one_policy_stay_below_the_floor_in_19_of_20_pairs(num_trials):
    rng = np.random.default_rng(1)
    chances = rng.random(60)
    below = 0
    for _ in range(400):
        first, second = two_runs(rng, chances, num_trials)
        gap = np.mean([np.mean(second[i]) - np.mean(first[i]) for i in first])
        below += abs(gap) <= noise_floor(first, second).value
    # standard error of the share: sqrt(0.95 x 0.05 / 400) = 0.011
    assert below / 400 == pytest.approx(0.95, abs=0.033)


def test_the_interval_holds_the_true_difference_in_19_of_20_pairs():
    rng = np.random.default_rng(2)
    covered = 0
    for _ in range(400):
        gaps = {str(i): [x] for i, x in enumerate(rng.choice([-1, 0, 0.5, 1], size=60))}
        estimate = mean_over_tasks(gaps)
        covered += estimate.low <= 0.125 <= estimate.high
    # a percentile bootstrap over 60 tasks is a little short of its 95 %
    assert 0.91 <= covered / 400 <= 0.98
