"""The records of the airline databases, and their tables. Amounts are in USD."""

from typing import NotRequired, TypedDict, cast

from drl.domains.tau.tables import Table, Tables


class PaymentMethod(TypedDict):
    """`source` is credit_card, gift_card or certificate; a credit card has no amount."""

    source: str
    amount: float
    id: str


class User(TypedDict):
    """A customer as far as tools look into the record; `reservations` are ids."""

    payment_methods: dict[str, PaymentMethod]
    reservations: list[str]


class Passenger(TypedDict):
    """Someone who flies."""

    first_name: str
    last_name: str
    dob: str


class Payment(TypedDict):
    """What was paid, or negative: paid back."""

    payment_id: str
    amount: float


class Choice(TypedDict):
    """A flight as an agent names it."""

    flight_number: str
    date: str


class Leg(Choice):
    """A flight of a reservation; `price` is what one passenger paid."""

    price: float
    origin: str
    destination: str


class Reservation(TypedDict):
    """A reservation; it has a `status` once it is cancelled."""

    reservation_id: str
    user_id: str
    origin: str
    destination: str
    flight_type: str
    cabin: str
    flights: list[Leg]
    passengers: list[Passenger]
    payment_history: list[Payment]
    created_at: str
    total_baggages: int
    nonfree_baggages: int
    insurance: str
    status: NotRequired[str]


class Day(TypedDict):
    """A flight on one date; seats and prices by cabin are there while it is available."""

    status: str
    available_seats: dict[str, int]
    prices: dict[str, float]


class Flight(TypedDict):
    """A flight number; times end in +1 when they fall on the next day."""

    flight_number: str
    origin: str
    destination: str
    scheduled_departure_time_est: str
    scheduled_arrival_time_est: str
    dates: dict[str, Day]


def users(tables: Tables) -> Table[User]:
    """Customers by user id."""
    return cast("Table[User]", tables["users"])


def reservations(tables: Tables) -> Table[Reservation]:
    """Reservations by reservation id."""
    return cast("Table[Reservation]", tables["reservations"])


def flights(tables: Tables) -> Table[Flight]:
    """Flights by flight number."""
    return cast("Table[Flight]", tables["flights"])
