"""Both phrasing banks are complete, differ, and say what they are given to say."""

from random import Random

import pytest

from drl.domains.toolwoz.comprehension import read_values, tokens
from drl.user_simulator._acts import Act, Does
from drl.user_simulator._phrases import HELDOUT, TRAIN
from drl.user_simulator._speaking import speak

VALUES = [
    ("hotel", "area", "north"),
    ("hotel", "pricerange", "moderate"),
    ("hotel", "type", "guesthouse"),
    ("hotel", "type", "hotel"),
    ("hotel", "stars", "4"),
    ("hotel", "internet", "yes"),
    ("hotel", "parking", "no"),
    ("restaurant", "food", "modern european"),
    *(("attraction", "type", kind) for kind in ("boat", "museum", "mutliple sports", "park")),
    *(("attraction", "type", kind) for kind in ("swimmingpool", "concerthall", "entertainment")),
    *(("attraction", "type", kind) for kind in ("architecture", "cinema", "nightclub", "theatre")),
    ("train", "departure", "bishops stortford"),
    ("train", "destination", "london kings cross"),
    ("train", "day", "sunday"),
    ("train", "leaveAt", "09:15"),
    ("train", "arriveBy", "20:45"),
]


@pytest.mark.parametrize("phrasing", ["train", "heldout"])
@pytest.mark.parametrize("does", [Does.INFORM, Does.CORRECT, Does.CHANGE, Does.RECONSIDER])
@pytest.mark.parametrize(("domain", "slot", "value"), VALUES)
def test_every_wish_can_be_read_from_what_is_said(phrasing, does, domain, slot, value):
    for seed in range(20):
        text = speak([Act(does, domain, slot, value)], phrasing, Random(seed))
        read = {(m.slot, m.value) for m in read_values(tokens(text)) if not m.denied}
        assert (slot, value) in read, text


@pytest.mark.parametrize("phrasing", ["train", "heldout"])
@pytest.mark.parametrize("does", [Does.BOOK, Does.REBOOK, Does.RETRY])
def test_every_detail_of_a_booking_can_be_read_from_what_is_said(phrasing, does):
    details = {"people": "3", "stay": "1", "day": "monday", "time": "18:15"}
    for seed in range(20):
        acts = [Act(does, "hotel"), *(Act(Does.DETAIL, "hotel", *item) for item in details.items())]
        text = speak(acts, phrasing, Random(seed))
        assert {(m.slot, m.value) for m in read_values(tokens(text))} == set(details.items()), text


def test_the_banks_share_no_sentence_and_cover_the_same_acts():
    for name in ("opening", "naming", "sentences", "traits", "details", "nouns"):
        train, heldout = getattr(TRAIN, name), getattr(HELDOUT, name)
        assert train.keys() == heldout.keys()
        for key in train.keys() - {"stay", "time"}:
            assert not set(train[key]) & set(heldout[key]), (name, key)
    assert TRAIN.yes_no.keys() == HELDOUT.yes_no.keys()
