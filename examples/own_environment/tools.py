"""The desk of Harbour Bikes, six bicycles by the sea: every public function here is a tool.

Type hints become the tools' JSON schemas, docstrings what a model is told. The first parameter
`state` is the dialogue's own; a call that raises changes nothing of it, and its message goes to
the agent.
"""

from dataclasses import dataclass, field
from typing import Annotated, Literal

Kind = Literal["city", "child", "tandem", "cargo"]
Day = Literal["friday", "saturday", "sunday"]


@dataclass(frozen=True)
class Bike:
    """A bicycle and its price."""

    kind: Kind
    seats: int
    euros_a_day: int


@dataclass
class Rental:
    """A bike that somebody has on a day."""

    number: int
    bike: str
    day: Day
    name: str


@dataclass
class Desk:
    """The state of a dialogue: who has rented what, and which bikes are broken."""

    rentals: dict[int, Rental] = field(default_factory=dict)
    in_repair: set[str] = field(default_factory=set)


# What never changes may stand in the module; what changes belongs into the state.
BIKES = {
    "Albatross": Bike("cargo", seats=1, euros_a_day=24),
    "Bollard": Bike("city", seats=1, euros_a_day=12),
    "Cormorant": Bike("city", seats=1, euros_a_day=12),
    "Dinghy": Bike("child", seats=1, euros_a_day=7),
    "Eider": Bike("child", seats=1, euros_a_day=7),
    "Ferry": Bike("tandem", seats=2, euros_a_day=20),
}
READ_ONLY = ("find_bikes",)  # spared the copy of the state that every other call works on


def initial_state(task_state: dict | None) -> Desk:
    """The desk in the morning, from the `state` of a task."""
    given = task_state or {}
    rentals = [Rental(**rental) for rental in given.get("rentals", [])]
    return Desk({r.number: r for r in rentals}, set(given.get("in_repair", [])))


def find_bikes(state: Desk, kind: Kind, day: Day) -> list[dict]:
    """Finds the bikes of a kind that can be rented on a day.

    Args:
        kind: child bikes are for children up to ten, a tandem seats two
        day: the day of the ride
    """
    return [
        {"bike": name, "euros": bike.euros_a_day}
        for name, bike in BIKES.items()
        if bike.kind == kind and _is_free(state, name, day)
    ]


def rent_bike(
    state: Desk,
    bike: Annotated[str, "its name, as find_bikes gives it"],
    day: Day,
    name: Annotated[str, "the customer's family name"],
) -> Rental:
    """Rents one bike for one day."""
    bike = _known(bike)
    if not _is_free(state, bike, day):
        raise ValueError(f"{bike} is not free on {day}")
    number = max(state.rentals, default=0) + 1
    state.rentals[number] = Rental(number, bike, day, name)
    return state.rentals[number]


def change_day(state: Desk, rental: Annotated[int, "its number"], day: Day) -> Rental:
    """Moves a rental to another day, with the same bike."""
    moved = _rental(state, rental)
    if not _is_free(state, moved.bike, day):
        raise ValueError(f"{moved.bike} is not free on {day}")
    moved.day = day
    return moved


def cancel_rental(state: Desk, rental: Annotated[int, "its number"]) -> str:
    """Cancels a rental; the money goes back."""
    cancelled = _rental(state, rental)
    del state.rentals[cancelled.number]
    return f"{BIKES[cancelled.bike].euros_a_day} euros are paid back"


def report_damage(state: Desk, bike: str, damage: Annotated[str, "what is broken"]) -> str:
    """Takes a broken bike out of service until it is repaired."""
    bike = _known(bike)
    state.in_repair.add(bike)
    return f"{bike} goes to the workshop: {damage}"


def _is_free(state: Desk, bike: str, day: Day) -> bool:
    taken = any(r.bike == bike and r.day == day for r in state.rentals.values())
    return not taken and bike not in state.in_repair


def _known(bike: str) -> str:
    name = bike.strip().capitalize()
    if name not in BIKES:
        raise ValueError(f"there is no bike {bike}; there are {', '.join(BIKES)}")
    return name


def _rental(state: Desk, number: int) -> Rental:
    if number not in state.rentals:
        raise ValueError(f"there is no rental {number}")
    return state.rentals[number]
