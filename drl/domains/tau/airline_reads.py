"""The tools of the airline that look things up."""

import json
from typing import Final, TypeAlias

from drl.domains.tau.airline_records import Day, Flight, flights, reservations, users
from drl.domains.tau.refusal import RefusedError
from drl.domains.tau.tables import Tables
from drl.types import JSON

Offer: TypeAlias = "dict[str, JSON]"
"""A flight on one date, as an agent reads it."""

_AIRPORTS: Final = {
    "SFO": "San Francisco",
    "JFK": "New York",
    "LAX": "Los Angeles",
    "ORD": "Chicago",
    "DFW": "Dallas",
    "DEN": "Denver",
    "SEA": "Seattle",
    "ATL": "Atlanta",
    "MIA": "Miami",
    "BOS": "Boston",
    "PHX": "Phoenix",
    "IAH": "Houston",
    "LAS": "Las Vegas",
    "MCO": "Orlando",
    "EWR": "Newark",
    "CLT": "Charlotte",
    "MSP": "Minneapolis",
    "DTW": "Detroit",
    "PHL": "Philadelphia",
    "LGA": "LaGuardia",
}
"""The only data that tau-bench keeps in a tool."""


def get_user_details(tables: Tables, user_id: str) -> str:
    """The record of a customer."""
    if user_id not in users(tables):
        raise RefusedError("user not found")
    return json.dumps(users(tables).read(user_id))


def get_reservation_details(tables: Tables, reservation_id: str) -> str:
    """The record of a reservation; as published, one that is unknown is called a user."""
    if reservation_id not in reservations(tables):
        raise RefusedError("user not found")
    return json.dumps(reservations(tables).read(reservation_id))


def list_all_airports(tables: Tables) -> str:
    """The city of every airport by its code."""
    return json.dumps(_AIRPORTS)


def search_direct_flight(tables: Tables, origin: str, destination: str, date: str) -> str:
    """All available flights from one airport to another on a date."""
    return json.dumps(
        [
            offer(flight, flight["dates"][date])
            for _, flight in flights(tables).items()
            if flight["origin"] == origin
            and flight["destination"] == destination
            and is_available(flight, date)
        ]
    )


def search_onestop_flight(tables: Tables, origin: str, destination: str, date: str) -> str:
    """All available pairs of flights from one airport by way of another to a third.

    As published, the second flight after a night is looked for on a date without a leading zero,
    which does not exist before the tenth, and is shown with seats and prices of the first date.
    """
    return json.dumps(
        [
            [
                offer(first, first["dates"][date]) | {"date": date},
                offer(second, second["dates"][date]) | {"date": second_date},
            ]
            for first, second in connections(tables, origin, destination)
            for second_date in (_published_second_date(first, date),)
            if is_in_time(first, second)
            and is_available(first, date)
            and is_available(second, second_date)
        ]
    )


def connections(tables: Tables, origin: str, destination: str) -> list[tuple[Flight, Flight]]:
    """Pairs of flights by way of one airport, whenever they fly."""
    listed = [flight for _, flight in flights(tables).items()]
    return [
        (first, second)
        for first in listed
        if first["origin"] == origin
        for second in listed
        if second["destination"] == destination and second["origin"] == first["destination"]
    ]


def is_in_time(first: Flight, second: Flight) -> bool:
    """Whether the second flight does not leave before the first is there, compared as texts."""
    return first["scheduled_arrival_time_est"] <= second["scheduled_departure_time_est"]


def is_available(flight: Flight, date: str) -> bool:
    """Whether seats of the flight are sold for this date."""
    return date in flight["dates"] and flight["dates"][date]["status"] == "available"


def offer(flight: Flight, day: Day) -> Offer:
    """A flight with what is known of it on one date, in place of all dates."""
    fixed = {name: value for name, value in flight.items() if name != "dates"}
    return {**fixed, **day}  # type: ignore[dict-item]


def _published_second_date(first: Flight, date: str) -> str:
    if "+1" in first["scheduled_arrival_time_est"]:
        return f"2024-05-{int(date[-2:]) + 1}"
    return date
