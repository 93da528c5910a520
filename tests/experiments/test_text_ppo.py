import pytest

from experiments.text_ppo.rewards import distinct_pairs, short_words
from experiments.text_ppo.study import expected_best, tries_at


def test_short_words_earn_and_short_texts_earn_less():
    # 6 words of 10 that earn all; 4 of 6 are short
    assert short_words("", "The sea is wide, beautiful, endless.") == pytest.approx(4 / 6 * 0.6)
    assert short_words("", "a b c d e f g h i j k l") == 1.0
    assert short_words("", "... 12 !") == 0.0


def test_pairs_that_come_again_are_counted():
    assert distinct_pairs("the cat the cat the") == pytest.approx(2 / 4)
    assert distinct_pairs("one") == 0.0


def test_the_best_of_some_draws_is_averaged_over_all_ways_to_draw():
    # of 1, 2, 4 two are drawn: (1,2) 2, (1,4) 4, (2,4) 4
    assert expected_best([4.0, 1.0, 2.0], 2) == pytest.approx(10 / 3)
    assert expected_best([4.0, 1.0, 2.0], 1) == pytest.approx(7 / 3)
    assert expected_best([4.0, 1.0, 2.0], 3) == pytest.approx(4.0)


def test_as_many_tries_are_granted_as_the_distance_allows():
    # ln 2 - 1/2 = 0.193, ln 3 - 2/3 = 0.432, ln 4 - 3/4 = 0.636
    assert tries_at(0.1) == 1
    assert tries_at(0.2) == 2
    assert tries_at(0.5) == 3
    assert tries_at(0.64) == 4
