"""Which goals of a dialogue no call can reach.

The published data contradicts itself here and there: a booked train runs on another day than
wanted, a booked restaurant is in no database, a name is never found for its apostrophe.
"""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Final

from drl.domains.toolwoz.database import Table, positions
from drl.domains.toolwoz.desk import Desk, InvalidCall
from drl.domains.toolwoz.matching import Arguments, arguments_of, entity_of, reaches
from drl.domains.toolwoz.normalise import Rules, normalise, verbatim
from drl.domains.toolwoz.world import Scene
from drl.types import JSON, Goal, ToolCall

_SPELLING: Final = "its values are never found for their spelling"


def unreachable(scene: Scene, rules: Rules) -> tuple[Goal, ...]:
    """The goals that neither their exact call nor one that says less reaches."""
    desk, goals = scene.desk(rules), scene.derived.goals
    return tuple(
        goal
        for goal in goals
        if not any(
            reaches(goal, ToolCall(goal.kind, said), _answer(desk, goal, said), goals, rules)
            for said in _attempts(arguments_of(goal, rules))
        )
    )


def cause(scene: Scene, goal: Goal, rules: Rules) -> str:
    """Why the exact call of a goal does not reach it; it names columns, no values."""
    table = scene.world.tables[goal.domain]
    reading = verbatim if rules == "faithful" else normalise
    booking = next((g for g in scene.derived.goals if g.kind == f"book_{goal.domain}"), None)
    said = {name: str(value) for name, value in goal.arguments.items()}
    if goal.kind.startswith("book_"):
        return "its arguments are refused"
    if booking is None:
        wanted = {name: normalise(text) for name, text in said.items()}
        if rules == "faithful" and table.matches(wanted, normalise, inclusive=True):
            return _SPELLING
        return "no row has its values"
    entity = entity_of(booking, rules)
    if not isinstance(entity, str):
        return "the booked entity is no text"
    if not table.column(table.key, reading).select("equal", reading(entity)):
        spelt = table.column(table.key, normalise).select("equal", normalise(entity))
        return (
            "the booked entity is never found for its spelling"
            if spelt
            else "the booked entity is in no table"
        )
    return _contradiction(table, entity, said, rules)


def _contradiction(table: Table, entity: str, said: Mapping[str, str], rules: Rules) -> str:
    """Which of the wanted values the rows of a booked entity lack, going by the closest row."""
    lacking: dict[str, int] = {}
    named = table.column(table.key, normalise).select("equal", normalise(entity))
    for name, text in said.items():
        fits = table.matches({name: normalise(text)}, normalise, inclusive=rules == "fixed")
        lacking[name] = named & ~fits
    closest = min(
        ([name for name, rows in lacking.items() if rows >> row & 1] for row in positions(named)),
        key=len,
    )
    if not closest:
        return _SPELLING
    return f"the booked entity differs from the goal in {', '.join(sorted(closest))}"


def _attempts(arguments: Arguments) -> Iterator[Arguments]:
    """The exact arguments, then all subsets by size."""
    for size in range(len(arguments), -1, -1):
        for names in combinations(arguments, size):
            yield {name: arguments[name] for name in names}


def _answer(desk: Desk, goal: Goal, said: Arguments) -> JSON:
    try:
        action, domain = desk.check(goal.kind, said)
        return desk.search(domain, said) if action == "search" else desk.book(domain, said)
    except InvalidCall:
        return None
