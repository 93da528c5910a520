from dataclasses import replace

import numpy as np
import pytest

from drl.evaluation.paired import Difference, holm, paired_difference


def test_a_difference_is_taken_within_each_shared_task():
    # a: 1 - 0.5; b: 0 - 1; c and d stand in one run only
    found = paired_difference({"a": [1, 0], "b": [1], "c": [1]}, {"a": [1], "b": [0], "d": [0]})
    assert found.value == pytest.approx((0.5 - 1) / 2)
    assert found.n == 2


def test_few_tasks_are_tested_exactly():
    # four tasks that all gain: of the 16 choices of signs 2 are as extreme
    found = paired_difference({t: [0.0] for t in "abcd"}, {t: [1.0] for t in "abcd"})
    assert found.p == pytest.approx(2 / 16)
    assert (found.low, found.high) == (1.0, 1.0)


def test_equal_runs_differ_by_nothing_and_by_chance():
    run = {"a": [1.0], "b": [0.5]}
    assert paired_difference(run, run) == Difference(0.0, 0.0, 0.0, 2, 1.0)
    assert paired_difference({"a": [1.0]}, {"b": [1.0]}) is None
    assert paired_difference({"a": [1.0]}, {"a": []}) is None


def test_pairing_finds_what_two_intervals_would_hide():
    rng = np.random.default_rng(0)
    ease = rng.random(200)
    first = {str(i): [float(x)] for i, x in enumerate(ease)}
    second = {str(i): [float(x + rng.normal(0.02, 0.05))] for i, x in enumerate(ease)}
    found = paired_difference(first, second)
    assert 0 < found.low < 0.02 < found.high
    assert found.p < 0.01


def test_holm_multiplies_the_smallest_most_and_keeps_the_order():
    # sorted: 0.01 x 3 = 0.03; 0.02 x 2 = 0.04; 0.03 x 1 = 0.03, raised to 0.04
    base = Difference(0.1, 0.0, 0.2, 5, 0.0)
    corrected = holm([replace(base, p=p) for p in (0.03, 0.01, 0.02)])
    assert [d.p for d in corrected] == pytest.approx([0.04, 0.03, 0.04])
    assert holm([replace(base, p=0.9)] * 2)[0].p == 1.0
