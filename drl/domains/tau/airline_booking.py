"""The tools of the airline that book and cancel reservations, and give certificates."""

import json
from collections.abc import Sequence
from typing import Final, cast

from drl.domains.tau.airline_records import (
    Choice,
    Day,
    Flight,
    Leg,
    Passenger,
    Payment,
    Reservation,
    User,
    flights,
    reservations,
    users,
)
from drl.domains.tau.refusal import RefusedError
from drl.domains.tau.tables import Tables

RESERVATION_IDS: Final = ("HATHAT", "HATHAU", "HATHAV")
"""Of new reservations; as published, a fourth takes the place of the third."""

CERTIFICATE_IDS: Final = tuple(f"certificate_{number}" for number in range(3221322, 3221325))

_NOW: Final = "2024-05-15T15:00:00"
"""The time at which all dialogues take place, EST."""

_INSURANCE_USD: Final = 30
"""For each passenger."""

BAG_USD: Final = 50
"""For each bag that is not free."""


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
    """Book flights for a customer; as published, no seat is taken and hardly a rule enforced."""
    if user_id not in users(tables):
        raise RefusedError("user not found")
    legs = [booked(tables, choice, cabin, len(passengers)) for choice in flights]
    price = _price(legs, len(passengers), insurance) + BAG_USD * nonfree_baggages
    _refuse_unpaid(users(tables).read(user_id), payment_methods, price)
    reservation_id = _new_reservation_id(tables)
    reservation: Reservation = {
        "reservation_id": reservation_id,
        "user_id": user_id,
        "origin": origin,
        "destination": destination,
        "flight_type": flight_type,
        "cabin": cabin,
        "flights": legs,
        "passengers": passengers,
        "payment_history": payment_methods,
        "created_at": _NOW,
        "total_baggages": total_baggages,
        "nonfree_baggages": nonfree_baggages,
        "insurance": insurance,
    }
    user = users(tables).write(user_id)
    _charge(user, payment_methods)
    reservations(tables)[reservation_id] = reservation
    user["reservations"].append(reservation_id)
    return json.dumps(reservation)


def cancel_reservation(tables: Tables, reservation_id: str) -> str:
    """Cancel a reservation and note what is paid back; as published, no gift card gets it."""
    if reservation_id not in reservations(tables):
        raise RefusedError("reservation not found")
    reservation = reservations(tables).write(reservation_id)
    refunds: list[Payment] = [
        {"payment_id": payment["payment_id"], "amount": -payment["amount"]}
        for payment in reservation["payment_history"]
    ]
    reservation["payment_history"] += refunds
    reservation["status"] = "cancelled"
    return json.dumps(reservation)


def send_certificate(tables: Tables, user_id: str, amount: float) -> str | None:
    """Give a customer a certificate; as published, nothing comes back when no id is left."""
    if user_id not in users(tables):
        raise RefusedError("user not found")
    taken = users(tables).read(user_id)["payment_methods"]
    for certificate_id in CERTIFICATE_IDS:
        if certificate_id not in taken:
            methods = users(tables).write(user_id)["payment_methods"]
            methods[certificate_id] = {
                "source": "certificate",
                "amount": amount,
                "id": certificate_id,
            }
            return f"Certificate {certificate_id} added to user {user_id} with amount {amount}."
    return None


def _new_reservation_id(tables: Tables) -> str:
    """The first id that is free, or the last."""
    free = [name for name in RESERVATION_IDS if name not in reservations(tables)]
    return free[0] if free else RESERVATION_IDS[-1]


def booked(tables: Tables, choice: Choice, cabin: str, num_passengers: int) -> Leg:
    """The flight that an agent chose, with its price for one passenger.

    Raises:
        RefusedError: it does not exist, is not available or has too few seats.
    """
    flight, day = _available(tables, choice)
    if day["available_seats"][cabin] < num_passengers:
        raise RefusedError(f"not enough seats on flight {choice['flight_number']}")
    return leg(choice, day["prices"][cabin], flight["origin"], flight["destination"])


def leg(choice: Choice, price: float, origin: str, destination: str) -> Leg:
    """A flight of a reservation; whatever else the agent wrote is kept, as published."""
    priced = {**choice, "price": price, "origin": origin, "destination": destination}
    return cast(Leg, cast(object, priced))


def _available(tables: Tables, choice: Choice) -> tuple[Flight, Day]:
    number, date = choice["flight_number"], choice["date"]
    if number not in flights(tables):
        raise RefusedError(f"flight {number} not found")
    flight = flights(tables).read(number)
    if date not in flight["dates"]:
        raise RefusedError(f"flight {number} not found on date {date}")
    day = flight["dates"][date]
    if day["status"] != "available":
        raise RefusedError(f"flight {number} not available on date {date}")
    return flight, day


def _price(legs: Sequence[Leg], num_passengers: int, insurance: str) -> float:
    """Of all flights for all passengers, insured if so wished."""
    price = sum(leg["price"] * num_passengers for leg in legs)
    return price + _INSURANCE_USD * num_passengers if insurance == "yes" else price


def _refuse_unpaid(user: User, payments: Sequence[Payment], price: float) -> None:
    for payment in payments:
        payment_id = payment["payment_id"]
        if payment_id not in user["payment_methods"]:
            raise RefusedError(f"payment method {payment_id} not found")
        method = user["payment_methods"][payment_id]
        has_limit = method["source"] in ("gift_card", "certificate")
        if has_limit and method["amount"] < payment["amount"]:
            raise RefusedError(f"not enough balance in payment method {payment_id}")
    paid = sum(payment["amount"] for payment in payments)
    if paid != price:
        raise RefusedError(
            f"payment amount does not add up, total price is {price}, but paid {paid}"
        )


def _charge(user: User, payments: Sequence[Payment]) -> None:
    """Take what was paid from gift cards; certificates are gone, whatever was left on them."""
    for payment in payments:
        payment_id = payment["payment_id"]
        source = user["payment_methods"][payment_id]["source"]
        if source == "gift_card":
            user["payment_methods"][payment_id]["amount"] -= payment["amount"]
        elif source == "certificate":
            del user["payment_methods"][payment_id]
