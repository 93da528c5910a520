"""What judgments amount to, worked out by hand."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drl.evaluation.mt_bench import Mark, comparisons, pooled, ratings

MARKS = [
    Mark("1", "math", 1, 0, points=8.0),
    Mark("1", "math", 2, 0, points=4.0),
    Mark("2", "math", 1, 0, points=6.0),
    Mark("2", "math", 2, 0),  # could not be judged
    Mark("3", "stem", 1, 0, points=10.0),
    Mark("3", "stem", 2, 0, points=3.0),
]


def value(estimate) -> float:
    return estimate["value"]


def test_ratings_are_averaged_over_all_judged_turns_and_by_category_and_turn():
    found = ratings(MARKS)
    assert value(found["mean_points"]) == pytest.approx((8 + 4 + 6 + 10 + 3) / 5)
    assert value(found["per_turn"]["turn_1"]) == 8.0
    assert value(found["per_turn"]["turn_2"]) == 3.5
    assert value(found["per_category"]["math"]["turn_1"]) == 7.0
    assert value(found["per_category"]["math"]["turn_2"]) == 4.0
    assert value(found["per_category"]["math"]["both"]) == 6.0
    assert value(found["per_category"]["stem"]["both"]) == 6.5
    assert found["mean_points"]["n"] == 3
    assert found["per_turn"]["turn_2"]["n"] == 2


def test_the_unjudged_never_count_as_a_number():
    unjudged = [Mark("1", "math", turn, 0) for turn in (1, 2)]
    assert ratings(unjudged)["mean_points"] is None
    assert ratings([*MARKS, *unjudged]) == ratings(MARKS)


def test_trials_of_a_question_are_averaged_first():
    marks = [Mark("1", "math", 1, trial, points=points) for trial, points in enumerate((2.0, 4.0))]
    marks.append(Mark("2", "math", 1, 0, points=9.0))
    assert value(ratings(marks)["mean_points"]) == 6.0  # of 3 and 9, not of 2, 4 and 9


def test_an_interval_is_over_questions_and_the_same_each_time():
    values = {(str(q), t): [float((q * 7 + t) % 10)] for q in range(20) for t in (1, 2)}
    first = pooled(values)
    assert first == pooled(dict(reversed(values.items())))
    assert first is not None
    assert first.low < first.value < first.high
    assert first.n == 20


def test_equal_questions_have_an_interval_of_no_width():
    found = pooled({(q, t): [points] for q in "ab" for t, points in ((1, 2.0), (2, 4.0))})
    assert found is not None
    assert (found.low, found.value, found.high) == (3.0, 3.0, 3.0)


def test_nothing_has_no_mean():
    assert pooled({}) is None
    assert pooled({("1", 1): []}) is None


@settings(max_examples=40)
@given(
    st.dictionaries(
        st.tuples(st.sampled_from("abcd"), st.integers(1, 2)),
        st.lists(st.integers(1, 10).map(float), min_size=1, max_size=1),
        min_size=1,
    )
)
def test_the_mean_is_over_turns_and_lies_in_its_interval(values):
    found = pooled(values)
    assert found is not None
    numbers = [number for (number,) in values.values()]
    assert found.value == pytest.approx(sum(numbers) / len(numbers))
    assert found.low - 1e-9 <= found.value <= found.high + 1e-9


def test_comparisons_give_shares_and_count_ties_half():
    marks = [
        Mark("1", "math", 1, 0, outcome="win", agrees=True),
        Mark("1", "math", 2, 0, outcome="tie", agrees=False),
        Mark("2", "stem", 1, 0, outcome="tie", agrees=True),
        Mark("2", "stem", 2, 0, outcome="loss", agrees=True),
        Mark("3", "stem", 1, 0, outcome="win", agrees=True),
        Mark("3", "stem", 2, 0, agrees=False),  # could not be judged
    ]
    found = comparisons(marks)
    assert value(found["win_rate"]) == pytest.approx(2 / 5)
    assert value(found["tie_rate"]) == pytest.approx(2 / 5)
    assert value(found["loss_rate"]) == pytest.approx(1 / 5)
    assert value(found["adjusted_win_rate"]) == pytest.approx((2 + 0.5 * 2) / 5)
    assert value(found["agreement"]) == pytest.approx(4 / 5)
    assert value(found["per_category"]["math"]["both"]) == 0.75
    assert value(found["per_category"]["stem"]["turn_1"]) == 0.75
    assert value(found["per_turn"]["turn_2"]) == 0.25
