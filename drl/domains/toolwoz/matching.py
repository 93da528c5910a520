"""When a call states a goal, and when it reaches one (josh-train's rules, and those repaired)."""

from collections.abc import Mapping, Sequence

from drl.domains.toolwoz.database import Row
from drl.domains.toolwoz.normalise import Rules, fold, is_empty, normalise_value
from drl.types import JSON, Goal, ToolCall

Arguments = Mapping[str, JSON]


def stated(arguments: Arguments, rules: Rules) -> dict[str, JSON]:
    """What a call or a goal says: its values as the rules read them, without empty ones."""
    if rules == "faithful":
        return {
            name: fold(value) if isinstance(value, str) else value
            for name, value in arguments.items()
            if not is_empty(value)
        }
    read = {name: normalise_value(value) for name, value in arguments.items()}
    return {
        name: value
        for name, value in read.items()
        if value is not None and not is_empty(value) and not is_empty(arguments[name])
    }


def contains(whole: Arguments, part: Arguments) -> bool:
    """Whether everything in `part` stands in `whole`; both as `stated` gives them."""
    return part.items() <= whole.items()


def key_of(domain: str) -> str:
    """The column that names an entity of a domain."""
    return "trainID" if domain == "train" else "name"


def entity_of(goal: Goal, rules: Rules) -> JSON:
    """The entity that a booking goal books; an odd value where the published data is scrambled."""
    repaired = goal.details.get("repaired_entity")
    if rules == "fixed" and repaired is not None:
        return repaired
    return goal.details["entity"]


def arguments_of(goal: Goal, rules: Rules) -> Arguments:
    """The arguments of the call that states a goal and nothing else."""
    if "entity" not in goal.details:
        return goal.arguments
    return {**goal.arguments, key_of(goal.domain): entity_of(goal, rules)}


def reaches(
    goal: Goal, call: ToolCall, value: JSON, open_goals: Sequence[Goal], rules: Rules
) -> bool:
    """Whether a call that returned `value` reaches `goal` while `open_goals` are open.

    A booking counts under the published rules whatever it returned. A search that conflicts with
    the goal never counts. While a booking of the domain is open, only its entity will do;
    otherwise a search that says less than the goal must be lucky.
    """
    if call.name != goal.kind:
        return False
    if goal.kind.startswith("book_"):
        if rules == "fixed" and not (isinstance(value, Mapping) and value.get("success") is True):
            return False
        return contains(stated(call.arguments, rules), stated(arguments_of(goal, rules), rules))
    if not isinstance(value, list) or not value:
        return False
    row = value[0]
    assert isinstance(row, Mapping)
    wanted, said = stated(goal.arguments, rules), stated(call.arguments, rules)
    says_all = contains(said, wanted)
    if not says_all and not contains(wanted, said):
        return False
    booking = next((other for other in open_goals if other.kind == f"book_{goal.domain}"), None)
    entity = "" if booking is None else entity_of(booking, rules)
    if entity in ("", [], {}):
        return says_all or satisfies(row, wanted, rules)
    found = row.get(key_of(goal.domain))
    return found == entity if rules == "faithful" else _same(found, entity)


def satisfies(row: Row, wanted: Arguments, rules: Rules) -> bool:
    """Whether a row has what a goal wants; `wanted` is as `stated` gives it.

    The published rule asks for equal times as well, so that hardly any train satisfies it.
    """
    held = stated({name: row.get(name) for name in wanted}, rules)
    if rules == "faithful":
        return contains(held, wanted)
    return all(
        name in held and _fits(name, str(held[name]), str(value)) for name, value in wanted.items()
    )


def _fits(name: str, held: str, wanted: str) -> bool:
    if name == "leaveAt":
        return held >= wanted
    if name == "arriveBy":
        return held <= wanted
    return held == wanted


def _same(left: JSON, right: JSON) -> bool:
    return normalise_value(left) == normalise_value(right)
