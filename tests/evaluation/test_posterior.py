from math import pi, sin

import numpy as np
import pytest

from drl.evaluation.posterior import certain, posterior


def test_nothing_seen_leaves_the_prior_of_jeffreys():
    # the quantile q of Beta(1/2, 1/2), the arcsine law, is sin^2(pi q / 2)
    prior = posterior(0, 0)
    assert prior.mean == 0.5
    assert prior.low == pytest.approx(sin(pi * 0.025 / 2) ** 2)
    assert prior.high == pytest.approx(sin(pi * 0.975 / 2) ** 2)


def test_tries_count_on_top_of_half_a_success_and_half_a_failure():
    # 3 of 4: Beta(3.5, 1.5), mean 3.5 / 5
    assert posterior(3, 4).mean == pytest.approx(0.7)
    assert posterior(3, 4).low == pytest.approx(1 - posterior(1, 4).high)


def test_the_interval_covers_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(2)
    covered = 0
    for chance in rng.random(400):
        found = posterior(int((rng.random(12) < chance).sum()), 12)
        covered += found.low <= chance <= found.high
    # 380 of 400 in the long run over all chances; four standard deviations below are 362
    assert covered >= 362


def test_what_is_known_has_no_width():
    assert (certain(True).low, certain(True).high) == (1.0, 1.0)
    assert certain(False).mean == 0.0
