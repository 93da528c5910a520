"""The tools in which tau-bench has a bug, repaired; the mode `fixed` puts them in place.

Each does what its namesake does, and then what that leaves out. Bugs of the published labels
(gold calls that fail) are no business of tools.
"""

import json
from collections.abc import Sequence
from datetime import date as Date
from datetime import timedelta

from drl.domains.tau import airline_booking, airline_changes
from drl.domains.tau.airline_booking import RESERVATION_IDS
from drl.domains.tau.airline_reads import connections, is_available, is_in_time, offer
from drl.domains.tau.airline_records import (
    Choice,
    Flight,
    Leg,
    Passenger,
    Payment,
    flights,
    reservations,
)
from drl.domains.tau.refusal import RefusedError
from drl.domains.tau.retail_orders import cancel, cancellable
from drl.domains.tau.tables import Tables


def cancel_pending_order(tables: Tables, order_id: str, reason: str) -> str:
    """Cancel an order and pay back what was not paid back yet.

    As published, after a change of the payment method the first payment is paid back twice, and
    its refund too.
    """
    order = cancellable(tables, order_id, reason)
    history = order["payment_history"]
    refunded = [p["payment_method_id"] for p in history if p["transaction_type"] == "refund"]
    return cancel(
        tables, order, reason, [p for p in history if p["payment_method_id"] not in refunded]
    )


def search_onestop_flight(tables: Tables, origin: str, destination: str, date: str) -> str:
    """All available pairs of flights, the second on its own date with its own seats and prices."""
    return json.dumps(
        [
            [
                offer(first, first["dates"][date]) | {"date": date},
                offer(second, second["dates"][second_date]) | {"date": second_date},
            ]
            for first, second in connections(tables, origin, destination)
            if is_in_time(first, second) and is_available(first, date)
            for second_date in (_arrival_date(first, date),)
            if is_available(second, second_date)
        ]
    )


def book_reservation(
    tables: Tables,
    user_id: str,
    origin: str,
    destination: str,
    flight_type: str,
    cabin: str,
    flights: list[Choice],
    passengers: list[Passenger],
    payment_methods: list[Payment],
    total_baggages: int,
    nonfree_baggages: int,
    insurance: str,
) -> str:
    """Book flights and take their seats; a fourth booking is refused and replaces none."""
    if all(name in reservations(tables) for name in RESERVATION_IDS):
        raise RefusedError("no more reservations can be made")
    text = airline_booking.book_reservation(
        tables,
        user_id,
        origin,
        destination,
        flight_type,
        cabin,
        flights,
        passengers,
        payment_methods,
        total_baggages,
        nonfree_baggages,
        insurance,
    )
    _take_seats(tables, json.loads(text)["flights"], cabin, len(passengers))
    return text


def cancel_reservation(tables: Tables, reservation_id: str) -> str:
    """Cancel a reservation and give its seats back, once."""
    had_seats = reservation_id in reservations(tables) and (
        "status" not in reservations(tables).read(reservation_id)
    )
    text = airline_booking.cancel_reservation(tables, reservation_id)
    if had_seats:
        reservation = reservations(tables).read(reservation_id)
        num_seats = len(reservation["passengers"])
        _take_seats(tables, reservation["flights"], reservation["cabin"], -num_seats)
    return text


def send_certificate(tables: Tables, user_id: str, amount: float) -> str:
    """Give a customer a certificate; a fourth is refused in words."""
    text = airline_booking.send_certificate(tables, user_id, amount)
    if text is None:
        raise RefusedError("no more certificates can be given")
    return text


def update_reservation_flights(
    tables: Tables, reservation_id: str, cabin: str, flights: list[Choice], payment_id: str
) -> str:
    """Replace all flights and the cabin; seats are given back and taken."""
    known = reservation_id in reservations(tables)
    old_legs = reservations(tables).read(reservation_id)["flights"] if known else []
    airline_changes.update_reservation_flights(tables, reservation_id, cabin, flights, payment_id)
    reservation = reservations(tables).write(reservation_id)
    num_seats = len(reservation["passengers"])
    _take_seats(tables, old_legs, reservation["cabin"], -num_seats)
    _take_seats(tables, reservation["flights"], cabin, num_seats)
    reservation["cabin"] = cabin
    return json.dumps(reservation)


def _arrival_date(first: Flight, date: str) -> str:
    nights = 1 if "+1" in first["scheduled_arrival_time_est"] else 0
    return (Date.fromisoformat(date) + timedelta(days=nights)).isoformat()


def _take_seats(tables: Tables, legs: Sequence[Leg], cabin: str, num_seats: int) -> None:
    """Take seats, or give back a negative number; flights that are gone have none to count."""
    for leg in legs:
        if is_available(flights(tables).read(leg["flight_number"]), leg["date"]):
            day = flights(tables).write(leg["flight_number"])["dates"][leg["date"]]
            day["available_seats"][cabin] -= num_seats
