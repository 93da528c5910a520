import pytest

from drl.evaluation.best_of_n import best_of_kl, expected_best, tries_at, worth_of_best


def test_the_best_of_some_draws_is_averaged_over_all_ways_to_draw():
    # of 1, 2, 4 two are drawn: (1,2) 2, (1,4) 4, (2,4) 4
    assert expected_best([4.0, 1.0, 2.0], 2) == pytest.approx(10 / 3)
    assert expected_best([4.0, 1.0, 2.0], 1) == pytest.approx(7 / 3)
    assert expected_best([4.0, 1.0, 2.0], 3) == pytest.approx(4.0)


def test_as_many_tries_are_granted_as_the_kl_allows():
    # ln 2 - 1/2 = 0.193, ln 3 - 2/3 = 0.432, ln 4 - 3/4 = 0.636
    assert tries_at(0.1, 64) == 1
    assert tries_at(0.2, 64) == 2
    assert tries_at(0.5, 64) == 3
    assert tries_at(0.64, 64) == 4


def test_there_are_never_more_tries_than_texts():
    assert tries_at(100.0, 8) == 8
    assert best_of_kl(8) < 100


def test_what_is_best_for_one_may_be_worth_little_to_another():
    # of two draws from rewards 1, 2, 4 the best is 2 once and 4 twice: (7 + 0 + 0) / 3
    assert worth_of_best([1.0, 2.0, 4.0], [5.0, 7.0, 0.0], 2) == pytest.approx(7 / 3)


def test_among_equal_rewards_the_choice_is_by_chance():
    # pairs of a=1, b=2, c=2: (a,b) b, (a,c) c, (b,c) either: b and c in half of all each
    assert worth_of_best([1.0, 2.0, 2.0], [9.0, 4.0, 8.0], 2) == pytest.approx(6.0)
    assert worth_of_best([3.0, 3.0], [1.0, 2.0], 1) == pytest.approx(1.5)


def test_texts_of_unknown_worth_are_left_out_of_the_mean():
    # the best of two is 2 once, whose worth is unknown, and 4 twice
    assert worth_of_best([1.0, 2.0, 4.0], [5.0, None, 3.0], 2) == pytest.approx(3.0)
    assert worth_of_best([1.0, 2.0], [5.0, None], 2) is None
