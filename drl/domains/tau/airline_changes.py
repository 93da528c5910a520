"""The tools of the airline that change a reservation."""

import json

from drl.domains.tau.airline_booking import BAG_USD, booked, leg
from drl.domains.tau.airline_records import (
    Choice,
    Leg,
    Passenger,
    Reservation,
    reservations,
    users,
)
from drl.domains.tau.refusal import RefusedError
from drl.domains.tau.tables import Tables


def update_reservation_baggages(
    tables: Tables,
    reservation_id: str,
    total_baggages: int,
    nonfree_baggages: int,
    payment_id: str,
) -> str:
    """Set the number of bags; more that are not free cost 50 USD each, fewer give nothing back."""
    reservation = _known(tables, reservation_id)
    cost = BAG_USD * max(0, nonfree_baggages - reservation["nonfree_baggages"])
    _refuse_payment(tables, reservation, payment_id, cost)
    reservation = reservations(tables).write(reservation_id)
    reservation["total_baggages"] = total_baggages
    reservation["nonfree_baggages"] = nonfree_baggages
    _charge(tables, reservation, payment_id, cost)
    return json.dumps(reservation)


def update_reservation_flights(
    tables: Tables, reservation_id: str, cabin: str, flights: list[Choice], payment_id: str
) -> str:
    """Replace all flights; as published, the cabin of the reservation stays what it was."""
    reservation = _known(tables, reservation_id)
    num_passengers = len(reservation["passengers"])
    legs = [
        _kept(reservation, choice, cabin) or booked(tables, choice, cabin, num_passengers)
        for choice in flights
    ]
    paid = sum(leg["price"] for leg in reservation["flights"])
    cost = (sum(leg["price"] for leg in legs) - paid) * num_passengers
    _refuse_payment(tables, reservation, payment_id, cost)
    reservation = reservations(tables).write(reservation_id)
    reservation["flights"] = legs
    _charge(tables, reservation, payment_id, cost)
    return json.dumps(reservation)


def update_reservation_passengers(
    tables: Tables, reservation_id: str, passengers: list[Passenger]
) -> str:
    """Replace the passengers by as many others, whatever is said of them."""
    reservation = _known(tables, reservation_id)
    if len(passengers) != len(reservation["passengers"]):
        raise RefusedError("number of passengers does not match")
    reservation = reservations(tables).write(reservation_id)
    reservation["passengers"] = passengers
    return json.dumps(reservation)


def _known(tables: Tables, reservation_id: str) -> Reservation:
    if reservation_id not in reservations(tables):
        raise RefusedError("reservation not found")
    return reservations(tables).read(reservation_id)


def _kept(reservation: Reservation, choice: Choice, cabin: str) -> Leg | None:
    """The flight at the price that was paid for it, if the reservation has it in this cabin."""
    if cabin != reservation["cabin"]:
        return None
    for old in reservation["flights"]:
        if (old["flight_number"], old["date"]) == (choice["flight_number"], choice["date"]):
            return leg(choice, old["price"], old["origin"], old["destination"])
    return None


def _refuse_payment(tables: Tables, reservation: Reservation, payment_id: str, cost: float) -> None:
    methods = users(tables).read(reservation["user_id"])["payment_methods"]
    if payment_id not in methods:
        raise RefusedError("payment method not found")
    method = methods[payment_id]
    if method["source"] == "certificate":
        raise RefusedError("certificate cannot be used to update reservation")
    if method["source"] == "gift_card" and method["amount"] < cost:
        raise RefusedError("gift card balance is not enough")


def _charge(tables: Tables, reservation: Reservation, payment_id: str, cost: float) -> None:
    """Take or give back an amount, and note it in the reservation unless it is nothing."""
    method = users(tables).read(reservation["user_id"])["payment_methods"][payment_id]
    if method["source"] == "gift_card":
        methods = users(tables).write(reservation["user_id"])["payment_methods"]
        methods[payment_id]["amount"] -= cost
    if cost != 0:
        reservation["payment_history"].append({"payment_id": payment_id, "amount": cost})
