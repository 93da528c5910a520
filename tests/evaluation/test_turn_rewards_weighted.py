import numpy as np
import pytest
from scipy.stats import pearsonr, rankdata, spearmanr

from drl.evaluation import turn_rewards_weighted as weighted

COUNTS = np.array([[1.0, 1.0, 1.0, 1.0, 1.0], [2.0, 0.0, 1.0, 2.0, 0.0], [0.0, 3.0, 1.0, 0.0, 1.0]])
TOLD = np.array([0.3, -1.0, 0.3, 2.0, 0.7])
TRUE = np.array([1.0, 0.0, 3.0, 2.0, 2.0])


def _written_out(values: np.ndarray, counts: np.ndarray) -> np.ndarray:
    return np.repeat(values, counts.astype(int))


def test_a_resample_has_the_correlation_of_its_items_written_out():
    found = weighted.correlation(TOLD, TRUE, COUNTS)
    for row, value in zip(COUNTS, found, strict=True):
        assert value == pytest.approx(pearsonr(_written_out(TOLD, row), _written_out(TRUE, row))[0])


def test_a_resample_has_the_rank_correlation_of_its_items_written_out():
    found = weighted.rank_correlation(TOLD, TRUE, COUNTS)
    for row, value in zip(COUNTS, found, strict=True):
        assert value == pytest.approx(
            spearmanr(_written_out(TOLD, row), _written_out(TRUE, row))[0]
        )


def test_a_value_far_from_all_others_leaves_their_order():
    values = np.array([0.5, 0.1, 0.3, 0.2, 0.4])
    far = values.copy()
    far[0] *= 1e6
    counts = np.ones((1, 5))
    np.testing.assert_array_equal(weighted.ranks(far, counts), weighted.ranks(values, counts))


def test_what_rounding_alone_tells_apart_is_equal():
    sums = np.array([0.1 + 0.2, 0.3, np.float32(0.3), -1e-9, 0.0])
    tied = weighted.with_ties(sums)
    assert len(set(tied.tolist())) == 2


def test_ties_stand_at_their_middle():
    once = np.ones((1, 5))
    # ranks of an open count: half below those of a count from 1
    assert weighted.ranks(TOLD, once)[0] == pytest.approx(rankdata(TOLD) - 0.5)


def test_equal_predictions_tell_no_order_and_equal_truths_cannot_be_told():
    level = np.full(5, 1 / 3)
    assert weighted.rank_correlation(level, TRUE, COUNTS).tolist() == [0.0, 0.0, 0.0]
    assert np.isnan(weighted.rank_correlation(TOLD, level, COUNTS)).all()


def test_what_only_rounding_tells_apart_is_tied():
    sums = np.array([sum([0.1] * 10), 1.0, np.float64(np.float32(0.1)) * 10, 1.0 - 1e-9, 1.0])
    assert weighted.rank_correlation(sums, TRUE, COUNTS).tolist() == [0.0, 0.0, 0.0]


def test_the_mean_leaves_out_what_is_unknown():
    values = np.array([1.0, np.nan, 3.0, np.nan, 5.0])
    # (1 + 3 + 5) / 3; (2 * 1 + 3) / 3; (3 + 5) / 2
    assert weighted.mean(values, COUNTS) == pytest.approx([3.0, 5 / 3, 4.0])
    assert np.isnan(weighted.mean(np.full(5, np.nan), COUNTS)).all()


def test_the_slope_is_that_of_least_squares():
    x, y = np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 5.0])
    assert weighted.slope(x, y, np.ones((1, 3))) == pytest.approx([2.0])
    assert weighted.slope(10 * x, y, np.ones((1, 3))) == pytest.approx([0.2])
    assert np.isnan(weighted.slope(np.ones(3), y, np.ones((1, 3)))).all()


def test_pairs_are_counted_once_for_all_resamples():
    values = np.array([3.0, 1.0, 2.0, 2.0])
    is_positive = np.array([True, False, True, False])
    place = np.array([0, 0, 1, 1])
    # 3 beats 1 (place 0) and 2 (place 1); 2 beats 1 (place 0) and ties with 2 (place 1)
    assert weighted.pairs_won(values, is_positive, place).tolist() == [[1.0, 1.0], [1.0, 0.5]]
