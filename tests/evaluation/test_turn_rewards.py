import numpy as np
import pytest
from evaluation.held_out_sessions import generated, observed, told

from drl.errors import DataError
from drl.evaluation.turn_rewards import HeldOut, Observed, evaluate, measure, to_json

NAN = float("nan")


def _values(sessions: list[HeldOut], training_mean: float = 0.0) -> dict[str, float]:
    return {name: e.value for name, e in evaluate(sessions, training_mean, seed=0).items()}


def test_the_errors_of_scores_are_those_of_totals():
    sessions = [
        told(observed("a", [0, 0], score=3.0), [1.0, 1.0]),  # 2 for 3: off by 1
        told(observed("b", [0, 0], score=-1.0), [1.0, 1.0]),  # 2 for -1: off by 3
    ]
    found = _values(sessions, training_mean=1.0)
    assert found["global_mse"] == pytest.approx((1 + 9) / 2)
    assert found["constant_mse"] == pytest.approx((4 + 4) / 2)
    assert found["r2_session"] == pytest.approx(1 - 5 / 4)


def test_totals_are_the_models_own_so_that_means_work_too():
    session = observed("a", [0, 0], score=3.0)
    averaged = HeldOut(observed=session, rewards=np.array([[2.0, 4.0]]), totals=np.array([3.0]))
    assert _values([averaged])["global_mse"] == 0.0


def test_a_constant_prediction_is_as_good_as_the_constant_and_tells_no_order():
    sessions = [
        told(observed(str(n), [0, 1, 0], score=float(n), hidden=[1, 2, 3]), [0.5, 0.5, 0.5])
        for n in range(4)
    ]
    found = _values(sessions, training_mean=1.5)
    assert found["global_mse"] == pytest.approx(found["constant_mse"])
    assert found["r2_session"] == pytest.approx(0.0)
    assert found["spearman_session"] == 0.0
    assert found["spearman_hidden"] == 0.0
    assert found["auroc_positive"] == 0.5
    assert found["local_difference_sd"] == 0.0
    assert "calibration_slope" not in found


def test_the_local_difference_is_within_sessions_that_have_both():
    sessions = [
        told(observed("a", [1, 0, NAN]), [3.0, 1.0, 99.0]),  # 3 - 1 = 2
        told(observed("b", [1, 0, -1]), [5.0, 2.0, 0.0]),  # 5 - (2 + 0) / 2 = 4
        told(observed("c", [0, 0, 0]), [70.0, 80.0, 90.0]),  # no positive turn
    ]
    found = _values(sessions)
    assert found["local_difference"] == pytest.approx(3.0)
    assert found["mean_positive"] == pytest.approx((3 + 5) / 2)
    assert found["mean_neutral"] == pytest.approx((1 + 2 + 80) / 3)
    assert found["mean_negative"] == pytest.approx(0.0)
    assert evaluate(sessions, 0.0, seed=0)["local_difference"].n == 2


def test_standard_deviations_make_unequal_scales_comparable():
    session = observed("a", [1, 0, 0, 0])
    small, large = (
        _values([told(session, [4, 1, 2, 3])]),
        _values([told(session, [400, 100, 200, 300])]),
    )
    # 4 - 2 = 2 of the standard deviation sqrt(5/4)
    assert small["local_difference_sd"] == pytest.approx(2 / np.sqrt(5 / 4))
    assert large["local_difference_sd"] == pytest.approx(small["local_difference_sd"])


def test_a_share_of_happy_seconds_is_positive_above_one_half():
    found = _values([told(observed("a", [0.9, 0.5, 0.1]), [1.0, 0.0, 0.0])])
    assert found["auroc_positive"] == 1.0
    assert found["local_difference"] == pytest.approx(1.0)


def test_the_area_under_the_curve_is_over_all_turns_and_within_sessions_apart():
    sessions = [
        told(observed("a", [1, 0]), [2.0, 1.0]),  # within: right
        told(observed("b", [1, 0]), [12.0, 11.0]),  # within: right, but all above those of a
    ]
    found = _values(sessions)
    # positives 2 and 12 against others 1 and 11: 2 > 1, 12 > 1, 12 > 11 of four pairs
    assert found["auroc_positive"] == pytest.approx(3 / 4)
    assert found["auroc_positive_within"] == 1.0


def test_the_hidden_order_counts_within_sessions_only():
    sessions = [  # levels of sessions are in reverse; each is in order within
        told(observed("a", [0] * 3, hidden=[1, 2, 3]), [11.0, 12.0, 13.0]),
        told(observed("b", [0] * 3, hidden=[11, 12, 13]), [1.0, 2.0, 3.0]),
    ]
    assert _values(sessions)["spearman_hidden"] == 1.0


def test_an_error_that_grows_with_turns_is_told():
    sessions = [told(observed(str(n), [0] * n, score=1.0), [0.1] * n) for n in (5, 10, 15, 20, 30)]
    assert _values(sessions)["error_length_correlation"] == pytest.approx(1.0)


def test_what_nothing_was_seen_for_is_left_out():
    found = evaluate([told(observed("a", [NAN, NAN], score=1.0), [0.0, 1.0])], 0.0, seed=0)
    assert "auroc_positive" not in found
    assert "local_difference" not in found
    assert "spearman_hidden" not in found
    assert {"global_mse", "constant_mse", "r2_session"} <= set(found)


def test_seeds_are_averaged_after_measuring_and_each_is_shown():
    session = observed("a", [0, 0], score=2.0)
    found = measure([told(session, [1.0, 0.0], [2.0, 1.0])], 0.0, seed=0)
    # seed 0 tells 1 (error 1), seed 1 tells 3 (error 1): their mean would be right
    assert found["global_mse"].by_seed == (1.0, 1.0)
    assert found["global_mse"].value == 1.0
    shown = to_json(found)["global_mse"]
    assert isinstance(shown, dict)
    assert shown == {"value": 1.0, "low": 1.0, "high": 1.0, "n": 1, "by_seed": [1.0, 1.0]}


def test_intervals_widen_with_the_spread_over_seeds():
    session = observed("a", [0, 0], score=0.0)
    found = evaluate([told(session, [0.0, 0.0], [2.0, 0.0])], 0.0, seed=0)["global_mse"]
    assert (found.value, found.low, found.high) == (2.0, 0.0, 4.0)


def test_sessions_of_one_conversation_are_drawn_together():
    apart = [told(observed(str(n), [0], score=float(n % 2)), [0.0]) for n in range(40)]
    together = [
        told(observed(str(n), [0], conversation=str(n // 20), score=float(n % 2)), [0.0])
        for n in range(40)
    ]
    # two conversations of equal error each: any draw of them has the same mean
    found = evaluate(together, 0.0, seed=0)["global_mse"]
    assert (found.low, found.high, found.n) == (0.5, 0.5, 2)
    assert evaluate(apart, 0.0, seed=0)["global_mse"].high > 0.6


def test_the_order_of_sessions_does_not_show_and_the_seed_repeats():
    sessions = generated(12, seed=3, skill=0.5)
    first = evaluate(sessions, 0.0, seed=7)
    assert evaluate(sessions[::-1], 0.0, seed=7) == first
    assert evaluate(sessions, 0.0, seed=8) != first


def test_intervals_cover_zero_where_nothing_is_told_and_not_where_much_is():
    nothing = evaluate(generated(40, seed=1, skill=0.0), 0.0, seed=0)
    for name in ("spearman_session", "spearman_hidden", "local_difference_sd"):
        assert nothing[name].low < 0 < nothing[name].high
    assert nothing["auroc_positive"].low < 0.5 < nothing["auroc_positive"].high
    much = evaluate(generated(40, seed=1, skill=0.6), 0.0, seed=0)
    assert much["spearman_hidden"].low > 0.5
    assert much["r2_session"].low > 0
    assert much["auroc_positive"].low > 0.6


def test_the_area_in_a_resample_is_that_of_its_turns_written_out():
    sessions = generated(6, seed=2, skill=0.3, num_seeds=1)
    found = measure(sessions, 0.0, seed=0)["auroc_positive"]
    pairs = [
        (p > n) + (p == n) / 2
        for first in sessions
        for p in first.rewards[0][first.observed.labels > 0.5]
        for second in sessions
        for n in second.rewards[0][second.observed.labels <= 0.5]
    ]
    assert found.value == pytest.approx(np.mean(pairs))


def test_faults_are_told_with_their_session():
    with pytest.raises(DataError, match="session a: 2 labels, 1 lengths"):
        observed("a", [0, 1], lengths=[1.0])
    with pytest.raises(DataError, match="score nan is no number"):
        observed("a", [0], score=NAN)
    with pytest.raises(DataError, match="the model diverged"):
        told(observed("a", [0]), [NAN])
    with pytest.raises(DataError, match="session a: rewards have the shape"):
        told(observed("a", [0]), [1.0, 2.0])
    with pytest.raises(DataError, match="0 held-out sessions"):
        evaluate([], 0.0, seed=0)


def test_a_session_without_agent_turns_is_refused():
    with pytest.raises(DataError, match="session a: 0 labels"):
        Observed(
            session_id="a",
            conversation_id="a",
            score=0.0,
            labels=np.zeros(0),
            lengths=np.zeros(0),
        )
