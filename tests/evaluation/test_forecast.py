"""Totals with intervals, what counts as a request, and the model of time; all worked by hand."""

from math import sqrt

import pytest

from drl.calls.ledger import Entry
from drl.calls.prices import Price
from drl.evaluation.forecast import Plan, Predicted, RolloutCost, costs, forecast, total, wall_time


def plan(num_rollouts=10, concurrency=4, *, computing=(), **prices):
    return Plan(num_rollouts, concurrency, prices, frozenset(computing))


def entry(task, *keys, began=0.0, seconds=1.0, tokens=(100, 20, 10), model="m", **more):
    return Entry(
        "agent",
        task,
        0,
        None,
        model,
        len(keys),
        *tokens,
        seconds=seconds,
        began=began,
        keys=keys,
        **more,
    )


def test_a_total_is_the_mean_times_the_number_with_an_interval_of_student():
    # 2, 4, 6: mean 4, variance 4, so the error of a total of 12 is 12 * sqrt(4/3 * (1 - 3/12)) =
    # 12 * 1, and t(0.975, 2) = 4.30265: 48 +- 51.63. What was drawn took 12 already.
    found = total([2.0, 4.0, 6.0], 12)
    assert found.value == 48
    assert found.low == 12
    assert found.high == pytest.approx(48 + 4.302653 * 12, rel=1e-6)


def test_the_more_of_the_run_is_drawn_the_narrower():
    # of 4 of 5 rollouts with variance 5/3 the error is 5 * sqrt(5/12 * 1/5), t(0.975, 3) = 3.18245
    found = total([1.0, 2.0, 3.0, 4.0], 5)
    assert found.high is not None
    assert found.high - found.value == pytest.approx(3.182446 * 5 * sqrt(1 / 12), rel=1e-6)
    assert total([1.0, 2.0, 3.0], 3) == Predicted(6.0, 6.0, 6.0)


def test_one_rollout_has_no_interval_unless_it_is_all():
    assert total([3.0], 4) == Predicted(12.0, None, None)
    assert total([3.0], 1) == Predicted(3.0, 3.0, 3.0)


def test_a_sample_counts_once_however_often_it_is_used():
    entries = [
        entry("t", "a", "b", began=1.0),
        entry("t", "b", began=1.0, tokens=(50, 10, 5), from_cache=True),
        entry("t", "c", began=5.0, tokens=(30, 0, 7), from_cache=True),
        entry("u", "d", began=9.0),
        entry("other", "e", began=9.0),
    ]
    first, second = costs(entries, {"t": (0.5, 0.1), "u": (0.5, 0.1)})
    spent = first.spent["agent", "m"]
    assert (spent.requests, spent.tokens_in, spent.tokens_cached, spent.tokens_out) == (
        *(2, 130, 20, 17),
    )
    assert first.request_seconds == 2.0
    assert second.spent["agent", "m"].requests == 1


def test_work_of_rollouts_side_by_side_is_shared_out_by_their_requests():
    entries = [entry("t", "a", began=1.0), entry("u", "b", began=1.0), entry("u", "c", began=2.0)]
    found = costs(entries, {"t": (9.0, 0.0), "u": (9.0, 0.6)})
    assert [cost.own_s for cost in found] == pytest.approx([0.2, 0.4])
    alone = costs([], {"t": (9.0, 0.1), "u": (9.0, 0.6)})
    assert [cost.own_s for cost in alone] == [0.1, 0.6]


def test_half_a_request_that_was_spared_is_half_its_tokens_and_one_request():
    # two samples of one request come back one after the other, each with its share
    halves = [entry("t", key, began=1.0, tokens=(50, 10, 5), from_cache=True) for key in ("a", "b")]
    (cost,) = costs(halves, {"t": (0.0, 0.0)})
    spent = cost.spent["agent", "m"]
    assert (spent.requests, spent.tokens_in, spent.tokens_out) == (1, 100, 10)
    assert cost.request_seconds == 1.0


def test_dollars_are_those_of_each_model_and_unknown_if_one_is():
    entries = [
        entry("t", "a", tokens=(1_000_000, 500_000, 100_000)),
        entry("t", "b", tokens=(1_000_000, 0, 0), model="n"),
    ]
    drawn = costs(entries, {"t": (0.0, 0.0)})
    # m: half a million at 2, half a million at 1 and a tenth at 10 dollars; n: a million at 3
    known = forecast(drawn, plan(4, m=Price(2.0, 1.0, 10.0), n=Price(3.0, 3.0, 3.0)))
    assert known.usd_by_use["agent", "m"] == Predicted(4 * 2.5, None, None)
    assert known.usd == Predicted(4 * 5.5, None, None)
    assert known.spent_usd == 5.5
    unknown = forecast(drawn, plan(4, m=Price(2.0, 1.0, 10.0), n=None))
    assert unknown.usd_by_use["agent", "m"] == Predicted(10.0, None, None)
    assert unknown.usd_by_use["agent", "n"] is None
    assert unknown.usd is None
    assert unknown.spent_usd is None


def test_a_rollout_takes_the_time_in_which_any_request_was_under_way():
    # 0 to 2 and 1 to 3 overlap, 10 to 11 stands alone: 3 + 1 seconds, and 0.5 of its own
    spans = {"m": [(0.0, 2.0), (10.0, 11.0)], "n": [(1.0, 3.0)]}
    assert RolloutCost("t", spans=spans, own_s=0.5).duration_s == 4.5
    assert RolloutCost("t", spans=spans, own_s=0.5, wall_s=6.0).duration_s == 6.0


def alone(seconds, own_s=0.0, lanes=1):
    """A rollout of so many seconds, with that many requests under way all the time."""
    return RolloutCost("t", spans={"m": [(0.0, seconds)] * lanes}, own_s=own_s)


def test_workers_take_one_rollout_after_the_other():
    # 10 rollouts of 3 seconds on 4 workers: three rounds
    assert wall_time([alone(3.0), alone(3.0)], plan(10, 4)).value == 9.0
    assert wall_time([alone(3.0)], plan(3, 4)).value == 3.0


def test_more_requests_than_allowed_make_all_slower():
    # 4 workers with 2 requests each want 8 under way where 4 may be: twice as slow
    assert wall_time([alone(3.0, lanes=2)], plan(8, 4)).value == 12.0


def test_the_programs_own_work_adds_up():
    # each of 100 rollouts works for 1 second and waits for 3: 2 workers take 50 rounds of 4
    # seconds; 50 workers would take 2, but the work alone is 100 seconds
    assert wall_time([alone(3.0, own_s=1.0)], plan(100, 2)).value == 200.0
    assert wall_time([alone(3.0, own_s=1.0)], plan(100, 50)).value == 100.0


def test_a_model_that_computes_here_is_one_for_all():
    # two rollouts that used it at the same time kept it busy for 3 seconds: 10 take 15
    drawn = [alone(3.0), alone(3.0)]
    assert wall_time(drawn, plan(10, 10, computing=["m"])).value == 15.0


def test_the_interval_of_time_is_that_of_what_takes_it():
    found = wall_time([alone(1.0), alone(3.0)], plan(1000, 1))
    mean = total([1.0, 3.0], 1000)
    assert found.low is not None
    assert found.high is not None
    assert mean.high is not None
    assert found.high / found.value == pytest.approx(mean.high / mean.value)
    assert found.low >= 0
    assert wall_time([alone(1.0)], plan(10, 1)) == Predicted(10.0, None, None)
