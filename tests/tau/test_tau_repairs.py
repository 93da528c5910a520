"""The bugs of tau-bench's tools: kept in `faithful`, repaired in `fixed`."""

import json

import pytest
from tau.miniature import BOOKING, call, task_of

from drl.environment.tau import TauEnvironment

FAITHFUL = TauEnvironment(mode="faithful")
FIXED = TauEnvironment(mode="fixed")
JFK_BOS = {"flight_number": "F2", "date": "2024-05-08"}


def value(session, tool, /, **arguments):
    """The record that a tool returns."""
    result = call(session, tool, **arguments)
    assert result.error is None, result.error
    return json.loads(result.value)  # type: ignore[arg-type]


def seats(session):
    """Economy seats from JFK to BOS on the day of the booking."""
    found = value(
        session, "search_direct_flight", origin="JFK", destination="BOS", date="2024-05-08"
    )
    return found[0]["available_seats"]["economy"]


@pytest.mark.parametrize(
    ("environment", "balance", "refunds"),
    [
        # 50 on the card; the switch gives back 20.5; cancelling credits the entries of the card
        (FAITHFUL, 50 + 20.5 + 20.5 + 20.5, ["gift_card_1", "paypal_1", "gift_card_1"]),
        (FIXED, 50 + 20.5, ["paypal_1"]),
    ],
)
def test_an_order_is_paid_back_once_after_its_payment_was_switched(environment, balance, refunds):
    session = environment.open(task_of("retail"))
    value(session, "modify_pending_order_payment", order_id="#W1", payment_method_id="paypal_1")
    order = value(session, "cancel_pending_order", order_id="#W1", reason="no longer needed")
    paid_back = [entry["payment_method_id"] for entry in order["payment_history"][3:]]
    assert paid_back == refunds
    user = value(session, "get_user_details", user_id="ann_lee_1")
    assert user["payment_methods"]["gift_card_1"]["balance"] == balance


@pytest.mark.parametrize(("environment", "cabin"), [(FAITHFUL, "economy"), (FIXED, "business")])
def test_a_change_of_cabin_is_noted(environment, cabin):
    session = environment.open(task_of("airline"))
    flights = [{"flight_number": "F1", "date": "2024-05-20"}]
    changed = value(
        session,
        "update_reservation_flights",
        reservation_id="RRR222",
        cabin="business",
        flights=flights,
        payment_id="credit_card_2",
    )
    assert changed["cabin"] == cabin
    # business costs 300, 90 were paid
    assert changed["payment_history"][-1] == {"payment_id": "credit_card_2", "amount": 210}


def test_a_connection_over_night_shows_the_date_seats_and_prices_of_its_second_flight():
    search = {"origin": "SFO", "destination": "BOS"}
    faithful, fixed = (mode.open(task_of("airline")) for mode in (FAITHFUL, FIXED))
    # as texts, the arrival at 04:00:00+1 is before the departure at 06:00:00
    assert value(faithful, "search_onestop_flight", date="2024-05-08", **search) == []
    [[first, second]] = value(fixed, "search_onestop_flight", date="2024-05-08", **search)
    assert (first["date"], first["prices"]["economy"]) == ("2024-05-08", 100)
    assert (second["date"], second["prices"]["economy"]) == ("2024-05-09", 140)


@pytest.mark.parametrize(("environment", "left"), [(FAITHFUL, 2), (FIXED, 1)])
def test_a_booking_takes_seats(environment, left):
    session = environment.open(task_of("airline"))
    booked = value(session, "book_reservation", **BOOKING)
    assert seats(session) == left
    call(session, "cancel_reservation", reservation_id=booked["reservation_id"])
    call(session, "cancel_reservation", reservation_id=booked["reservation_id"])
    assert seats(session) == 2


def test_a_full_flight_cannot_be_booked_once_its_seats_are_taken():
    session = FIXED.open(task_of("airline"))
    value(session, "book_reservation", **BOOKING)
    value(session, "book_reservation", **BOOKING)
    third = call(session, "book_reservation", **BOOKING)
    assert third.value == "Error: not enough seats on flight F2"


@pytest.mark.parametrize(("environment", "before", "after"), [(FAITHFUL, 2, 2), (FIXED, 1, 2)])
def test_seats_follow_a_reservation_to_other_flights(environment, before, after):
    session = environment.open(task_of("airline"))
    change = {"reservation_id": "RRR222", "cabin": "economy", "payment_id": "credit_card_2"}
    value(session, "update_reservation_flights", flights=[JFK_BOS], **change)
    assert seats(session) == before
    back = [{"flight_number": "F1", "date": "2024-05-20"}]
    value(session, "update_reservation_flights", flights=back, **change)
    assert seats(session) == after


def test_a_fourth_booking_replaces_the_third_only_as_published():
    unseated = BOOKING | {"flights": [], "payment_methods": []}
    for environment, told in ((FAITHFUL, "HATHAV"), (FIXED, "no more reservations")):
        session = environment.open(task_of("airline"))
        ids = [value(session, "book_reservation", **unseated)["reservation_id"] for _ in range(3)]
        assert ids == ["HATHAT", "HATHAU", "HATHAV"]
        assert told in str(call(session, "book_reservation", **unseated).value)


def test_a_fourth_certificate_gives_nothing_as_published_and_an_error_when_fixed():
    for environment, fourth in ((FAITHFUL, None), (FIXED, "Error: no more certificates")):
        session = environment.open(task_of("airline"))
        for number in (2, 3, 4):
            text = call(session, "send_certificate", user_id="ben_roe_2", amount=5).value
            assert f"certificate_322132{number} added" in str(text)
        result = call(session, "send_certificate", user_id="ben_roe_2", amount=5).value
        assert result == fourth if fourth is None else str(result).startswith(fourth)


def test_a_refused_call_reads_the_same_in_both_modes():
    for tool, arguments, text in (
        ("cancel_reservation", {"reservation_id": "X"}, "Error: reservation not found"),
        ("send_certificate", {"user_id": "X", "amount": 1}, "Error: user not found"),
        ("book_reservation", BOOKING | {"user_id": "X"}, "Error: user not found"),
    ):
        for environment in (FAITHFUL, FIXED):
            assert call(environment.open(task_of("airline")), tool, **arguments).value == text
