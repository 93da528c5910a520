"""Goals that no single expected call could state: functions of the state, or of the calls so far.

They are asked after every call. True reaches the goal, and so does 1 of a number from 0 to 1.
"""

from tools import BIKES, Desk


def everyone_rides(state: Desk) -> float:
    """The four of the Vogel family have a seat on Saturday, on whatever bikes they like."""
    theirs = [r for r in state.rentals.values() if r.name == "Vogel" and r.day == "saturday"]
    return min(1.0, sum(BIKES[rental.bike].seats for rental in theirs) / 4)


def bollard_is_reported(calls: list[dict]) -> bool:
    """The damage is noted, in whatever words."""
    return any(c["name"] == "report_damage" and "Bollard" in c["value"] for c in calls)
