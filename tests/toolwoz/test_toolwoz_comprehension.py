"""What is found in text about hotels, restaurants, attractions and trains."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drl.domains.toolwoz.comprehension import clock, read_values, tokens
from drl.domains.toolwoz.questions import BOOK, MORE, asked
from drl.domains.toolwoz.spelling import cuisine, listed, title


def values(text: str) -> set[tuple[str, str]]:
    return {(m.slot, m.value) for m in read_values(tokens(text)) if not m.denied}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a cheap place in the centre", {("pricerange", "cheap"), ("area", "centre")}),
        ("moderately priced, downtown", {("pricerange", "moderate"), ("area", "centre")}),
        ("North American food", {("food", "north american")}),
        ("from King's Lynn to Ely", {("departure", "kings lynn"), ("destination", "ely")}),
        ("Ely to Norwich", {("departure", "ely"), ("destination", "norwich")}),
        ("leaving for Norwich", {("destination", "norwich")}),
        ("after 13:15", {("leaveAt", "13:15")}),
        ("arrive in Ely by 5:15 pm", {("destination", "ely"), ("arriveBy", "17:15")}),
        ("leaves at 09:05 and arrives at 9:22", {("leaveAt", "09:05"), ("arriveBy", "09:22")}),
        ("a table for 5 at 19:30", {("people", "5"), ("time", "19:30")}),
        ("a table at 7 pm", {("time", "19:00")}),
        ("two nights for one person", {("stay", "2"), ("people", "1")}),
        ("just me, from sunday", {("people", "1"), ("day", "sunday")}),
        ("a four-star hotel", {("stars", "4")}),
        ("with a star rating of 3", {("stars", "3")}),
        ("free wifi but no parking", {("internet", "yes"), ("parking", "no")}),
        ("without wifi or parking", {("internet", "no"), ("parking", "no")}),
        ("parking is not needed", {("parking", "no")}),
        ("a bed & breakfast", {("type", "guesthouse")}),
        ("it should be a hotel rather than a guesthouse", {("type", "hotel")}),
        ("not in the north but in the south", {("area", "south")}),
        ("cheap instead of expensive", {("pricerange", "cheap")}),
        ("how about one that is nice", set()),
        ("call 01223 316074", set()),
    ],
)
def test_values_are_found_with_their_slots(text, expected):
    assert values(text) == expected


def test_a_ruled_out_value_is_marked():
    (mention,) = read_values(tokens("not in the north"))
    assert (mention.value, mention.denied) == ("north", True)


@pytest.mark.parametrize(
    ("token", "time"),
    [
        *(("9:05", "09:05"), ("12:30 am", "00:30"), ("12 pm", "12:00"), ("24:55", "24:55")),
        *(("25:00", None), ("10:75", None), ("17", None)),
    ],
)
def test_times_of_day(token, time):
    assert clock(token) == time


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Which area would you like?", {"area"}),
        ("Do you have a price range or a cuisine in mind?", {"pricerange", "food"}),
        ("How many people and for how many nights?", {"people", "stay"}),
        ("Please tell me the day and time.", {"day", "time"}),
        ("It has free parking and wifi, shall I book it?", {BOOK}),
        ("It is in the area you like. Anything else?", {MORE}),
        ("It has free parking.", set()),
    ],
)
def test_questions_and_nothing_else_ask(text, expected):
    assert asked(tokens(text)) == expected


@given(st.text())
def test_any_text_can_be_read(text):
    spoken = tokens(text)
    for mention in read_values(spoken):
        assert 0 <= mention.start < mention.end <= len(spoken)
    asked(spoken)


def test_names_are_written_as_people_write_them():
    assert title("museum of classical archaeology") == "Museum of Classical Archaeology"
    assert title("alpha-milton guest house") == "Alpha-Milton Guest House"
    assert title("christ's college") == "Christ's College"
    assert title("") == ""
    assert (cuisine("modern european"), cuisine("seafood")) == ("Modern European", "seafood")
    assert [listed(["a", "b", "c"][:n]) for n in range(4)] == ["", "a", "a and b", "a, b and c"]
