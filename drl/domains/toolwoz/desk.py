"""The desk that carries out the calls of one dialogue.

The published desk steers: an agent whose search leaves out part of what the customer wants is
served an entity that does not fit, if there is one; an agent that says everything is served the
entity that the customer booked in the published dialogue. A booking succeeds if the
customer wants exactly it, whatever was searched before.

Under the repaired rules both sides are read alike, times are inclusive, what should not be found
or booked at first is not, and a refusal says why.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from drl.domains.toolwoz import database
from drl.domains.toolwoz.database import Reading, Row, Table
from drl.domains.toolwoz.goals import Definition, Derived
from drl.domains.toolwoz.matching import arguments_of, contains, entity_of, key_of, stated
from drl.domains.toolwoz.normalise import (
    Rules,
    fold,
    is_empty,
    normalise,
    verbatim,
)
from drl.types import JSON, Goal

INVALID: Final = "ERROR: INVALID API CALL!"
"""How every answer to a call that could not be carried out begins."""


class InvalidCall(Exception):
    """A call that cannot be carried out; the text says why."""


@dataclass(frozen=True, slots=True)
class Counter:
    """What a desk knows about one domain of its dialogue.

    `fitting` and `booked` are sets of rows: those that fit the search goal, and those of the
    entity that the customer booked. `hidden` rows are never found.
    """

    wanted: Mapping[str, JSON]
    booking: Goal | None
    fitting: int
    booked: int
    hidden: int
    refused: tuple[Mapping[str, JSON], ...]


class Desk:
    """Carries out calls for one dialogue under one set of rules; holds no state."""

    def __init__(
        self,
        derived: Derived,
        definitions: Mapping[str, Definition],
        tables: Mapping[str, Table],
        rules: Rules,
    ) -> None:
        self._definitions = definitions
        self._tables = tables
        self._rules: Final[Rules] = rules
        self._reading: Final[Reading] = verbatim if rules == "faithful" else normalise
        self._inclusive: Final = rules == "fixed"
        self._counters = {
            domain: self._counter(derived, domain, tables[domain]) for domain in derived.requests
        }

    def check(self, name: str, arguments: Mapping[str, JSON]) -> tuple[str, str]:
        """The action and domain of a call that can be carried out.

        Raises:
            InvalidCall: the name or an argument is not allowed.
        """
        action, mark, domain = name.partition("_")
        if not mark or "_" in domain or name not in self._definitions:
            raise InvalidCall(f"there is no tool {name!r}")
        if self._rules == "fixed" and domain not in self._tables:
            raise InvalidCall(f"there is no tool {name!r}")
        allowed = self._definitions[name].parameters
        unknown = [argument for argument in arguments if argument not in allowed]
        if unknown:
            known = ", ".join(allowed) or "no arguments"
            raise InvalidCall(f"{name} does not take {', '.join(unknown)}; it takes {known}")
        nested = [name for name, value in arguments.items() if isinstance(value, (list, dict))]
        if nested:
            raise InvalidCall(f"{', '.join(nested)} must be plain text, not a list or an object")
        if self._rules == "fixed":  # the published desk ignores a filter by yes or no silently
            truths = [name for name, value in arguments.items() if isinstance(value, bool)]
            if truths:
                raise InvalidCall(f"{', '.join(truths)} must be text such as yes or no")
        return action, domain

    def search(self, domain: str, arguments: Mapping[str, JSON]) -> list[Row]:
        """No row, or the one that the customer's desk would offer.

        Raises:
            InvalidCall: no table lists this domain.
        """
        table = self._tables.get(domain)
        if table is None:
            raise InvalidCall(f"nothing lists {domain} entities")
        counter = self._counters.get(domain)
        query, said = self._read(arguments)
        found = table.matches(query, self._reading, inclusive=self._inclusive)
        if counter is not None:
            found &= ~counter.hidden
        if not found:
            return []
        served = found if counter is None else _serve(counter, found, said)
        rows = table.rows if self._rules == "faithful" else table.dense_rows
        return [] if served is None else [rows[database.first(served)]]

    def book(self, domain: str, arguments: Mapping[str, JSON]) -> dict[str, JSON]:
        """`{"success": ..., "return": {...}}`, under the repaired rules with a `reason` if not."""
        counter = self._counters.get(domain)
        goal = None if counter is None else counter.booking
        said = stated(arguments, self._rules)
        wanted = None if goal is None else stated(arguments_of(goal, self._rules), self._rules)
        if goal is not None and wanted is not None and contains(said, wanted):
            returned = goal.details["booking"]
            assert isinstance(returned, Mapping)
            return {
                "success": True,
                "return": {**returned, key_of(domain): entity_of(goal, self._rules)},
            }
        refusal: dict[str, JSON] = {"success": False, "return": {}}
        if self._rules == "fixed":
            refusal["reason"] = self._reason(domain, said, wanted)
        return refusal

    def _read(self, arguments: Mapping[str, JSON]) -> tuple[dict[str, str], dict[str, JSON]]:
        """The query of a search, and what it says."""
        if self._rules == "faithful":
            said: dict[str, JSON] = {}
            for name, value in arguments.items():
                text = fold(value) if isinstance(value, str) else value
                if not is_empty(text):  # after folding here, before it in `stated`
                    said[name] = text
        else:
            said = stated(arguments, "fixed")
        return {name: value for name, value in said.items() if isinstance(value, str)}, said

    def _counter(self, derived: Derived, domain: str, table: Table) -> Counter:
        goals = {goal.kind: goal for goal in derived.goals if goal.domain == domain}
        search, booking = goals.get(f"search_{domain}"), goals.get(f"book_{domain}")
        wanted = {} if search is None else stated(search.arguments, self._rules)
        texts = {name: str(value) for name, value in wanted.items()}
        if self._rules == "faithful":
            fitting = table.equals(texts, fold)
        else:
            fitting = table.matches(texts, normalise, inclusive=True)
        booked = 0
        if booking is not None:
            entity = entity_of(booking, self._rules)
            if isinstance(entity, str):
                column = table.column(table.key, self._reading)
                booked = column.select("equal", self._reading(entity))
        hidden, refused = 0, ()
        if self._rules == "fixed":
            hidden, refused = self._failing(derived, table, wanted)
            hidden &= ~booked
        return Counter(wanted, booking, fitting, booked, hidden, refused)

    def _failing(
        self, derived: Derived, table: Table, wanted: Mapping[str, JSON]
    ) -> tuple[int, tuple[Mapping[str, JSON], ...]]:
        """The rows that the customer's first searches must not find, and bookings to refuse.

        Some dialogues list what the customer wants in the end as failing too; they were told
        nothing of it, so nothing is hidden.
        """
        hidden = 0
        refused: list[Mapping[str, JSON]] = []
        for failure in derived.failures:
            if failure.domain != table.domain:
                continue
            said = stated(failure.arguments, "fixed")
            if failure.kind.startswith("book"):
                refused.append(said)
            elif not contains(wanted, said):
                texts = {name: str(value) for name, value in said.items()}
                hidden |= table.matches(texts, normalise, inclusive=True)
        return hidden, tuple(refused)

    def _reason(
        self, domain: str, said: Mapping[str, JSON], wanted: Mapping[str, JSON] | None
    ) -> str:
        """Why a booking is refused; it tells no right value."""
        key, table = key_of(domain), self._tables[domain]
        if key not in self._definitions[f"book_{domain}"].parameters:
            return f"{domain}s are not booked here"
        entity = said.get(key)
        if entity is None:
            return f"{key} is missing"
        if not table.column(key, normalise).select("equal", str(entity)):
            return f"no {domain} has the {key} given"
        counter = self._counters.get(domain)
        if counter is not None and any(contains(said, failing) for failing in counter.refused):
            return "not available for that; try the customer's alternative"
        if wanted is None:
            return "not available"
        missing = [name for name in wanted if name not in said]
        if missing:
            return f"missing: {', '.join(missing)}"
        wrong = [name for name, value in wanted.items() if said[name] != value]
        return f"not available; these do not fit: {', '.join(wrong)}"


def _serve(counter: Counter, found: int, said: Mapping[str, JSON]) -> int | None:
    """The set that holds only the row to serve (or begins with it); None serves nothing."""
    booked, unfitting = found & counter.booked, found & ~counter.fitting
    if contains(said, counter.wanted):
        if counter.booking is None:
            return found
        if booked:
            return 1 << database.last(booked)
        return 1 << database.last(unfitting) if unfitting else None
    if contains(counter.wanted, said):
        if unfitting:
            return 1 << database.last(unfitting)
        if counter.booking is not None and booked:
            return 1 << database.last(booked)
    return found
