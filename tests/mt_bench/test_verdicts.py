"""Every way in which a judgment is read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drl.domains.judge.verdict import rating, winner, winner_by_ratings


@pytest.mark.parametrize(
    ("judgment", "points"),
    [
        ("Good. Rating: [[7]]", 7.0),
        ("Rating: [[8.5]]", 8.5),
        ("Rating: [7]", 7.0),
        ("see [2], so Rating: [[9]]", 9.0),  # double brackets before single ones
        ('as in "[[5]]" I was shown; mine is [[3]]', 5.0),  # the first one, as FastChat reads it
        ("Rating: [[0]]", 0.0),
        ("Rating: [[15]]", 15.0),  # no clamp
        ("Rating: [[7]", 7.0),  # what is left of it is a single bracket
        ("I would give it a 7.", None),
        ("Rating: [[rating]]", None),
        ("Rating: [[-1]]", None),
        ("$ERROR$", None),
        ("", None),
    ],
)
def test_a_rating_is_the_first_number_in_brackets(judgment, points):
    assert rating(judgment) == points


@pytest.mark.parametrize(
    ("judgment", "who"),
    [
        ("Both are fine, but [[A]]", "A"),
        ("[[B]]", "B"),
        ("a tie: [[C]]", "tie"),
        ("not [[B]] but [[A]]", "A"),  # A is looked for first, wherever it stands
        ("not [[C]] but [[B]]", "B"),
        ("[A]", None),
        ("A is better", None),
        ("[[D]]", None),
        ("", None),
    ],
)
def test_a_winner_is_looked_for_as_a_then_b_then_tie(judgment, who):
    assert winner(judgment) == who


@pytest.mark.parametrize(
    ("judgment", "who"),
    [
        ("[[8,6]]", "A"),
        ("[[6, 8.5]]", "B"),
        ("[[7,7.1]]", "tie"),
        ("[8,6]", "A"),
        ("[[8]] and [[6]]", None),
    ],
)
def test_two_ratings_are_a_tie_where_they_hardly_differ(judgment, who):
    assert winner_by_ratings(judgment) == who


@given(st.text(max_size=200))
def test_any_text_can_be_read(text):
    for read in (rating, winner, winner_by_ratings):
        read(text)
