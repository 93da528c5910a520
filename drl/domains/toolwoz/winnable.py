"""Which goals of a dialogue no call can reach.

The published data contradicts itself here and there: a booked train runs on another day than
wanted, a booked restaurant is in no database, a name is never found for its apostrophe.
"""

from collections.abc import Iterator
from itertools import combinations

from drl.domains.toolwoz.desk import Desk, InvalidCall
from drl.domains.toolwoz.matching import Arguments, arguments_of, reaches
from drl.domains.toolwoz.normalise import Rules
from drl.domains.toolwoz.world import Scene
from drl.types import JSON, Goal, ToolCall


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
