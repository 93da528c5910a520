"""What a published dialogue asks for, as goals (josh-train's derivation, and what is wrong in it).

The arguments of a goal are those that set a constraint. `details` of a search goal holds
`num_matches`, the rows that the published derivation found for it; of a booking goal `entity` and
`booking` (what a successful booking returns), and `repaired_entity` where the published derivation
filled in a wrong column for an entity that the data does not name.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from drl.domains.toolwoz import database
from drl.domains.toolwoz.database import Table
from drl.domains.toolwoz.matching import stated
from drl.domains.toolwoz.normalise import is_empty, normalise, verbatim
from drl.domains.toolwoz.record import DOMAINS, DomainGoal, Record
from drl.types import JSON, Goal


@dataclass(frozen=True, slots=True)
class Definition:
    """What a tool may be told, and what it was once documented to return."""

    parameters: tuple[str, ...]
    returns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Derived:
    """What a dialogue asks for; only `goals` earn rewards.

    `failures` are calls that the customer tries first and that should find or book nothing.
    """

    goals: tuple[Goal, ...]
    failures: tuple[Goal, ...]
    requests: Mapping[str, tuple[str, ...]]


def derive(
    record: Record, definitions: Mapping[str, Definition], tables: Mapping[str, Table]
) -> Derived:
    """The goals of a dialogue, in the published order."""
    goals: list[Goal] = []
    failures: list[Goal] = []
    for domain in DOMAINS:
        wanted = record.goals.get(domain)
        if wanted is None:
            continue
        searching = _Tool(f"search_{domain}", domain, definitions)
        booking = _Tool(f"book_{domain}", domain, definitions)
        if wanted.info:
            goals.append(_search_goal(searching, wanted, tables[domain]))
        if wanted.fail_info:
            failures.append(searching.goal({**wanted.info, **wanted.fail_info}))
        booked = record.booked.get(domain, ())
        if wanted.book and booked:
            goals.append(_booking_goal(booking, searching, record, tables[domain]))
        if wanted.fail_book:
            failures.append(booking.goal({**wanted.book, **wanted.fail_book}))
    requests = {domain: wanted.reqt for domain, wanted in record.goals.items()}
    return Derived(tuple(goals), tuple(failures), requests)


@dataclass(frozen=True, slots=True)
class _Tool:
    name: str
    domain: str
    definitions: Mapping[str, Definition]

    @property
    def definition(self) -> Definition:
        return self.definitions[self.name]

    def goal(self, values: Mapping[str, JSON], details: Mapping[str, JSON] | None = None) -> Goal:
        """A goal with those values that are allowed and say something."""
        arguments = {
            name: values[name]
            for name in self.definition.parameters
            if name in values and not is_empty(values[name])
        }
        return Goal(self.name, self.domain, arguments, details or {})


def _search_goal(tool: _Tool, wanted: DomainGoal, table: Table) -> Goal:
    rows = _published_matches(tool, wanted, table)
    return tool.goal(wanted.info, {"num_matches": rows.bit_count()})


def _booking_goal(booking: _Tool, searching: _Tool, record: Record, table: Table) -> Goal:
    domain = booking.domain
    wanted, item = record.goals[domain], record.booked[domain][-1]
    details: dict[str, JSON] = {}
    if table.key not in item:
        named = record.beliefs[domain].get(table.key, "")
        entity = _scrambled(searching, wanted, table) if is_empty(named) else named
        item = {**item, table.key: entity}
        details["repaired_entity"] = _true_entity(searching, record, table)
    details |= {"entity": item[table.key], "booking": item}
    return booking.goal({**wanted.book, table.key: item[table.key]}, details)


def _published_matches(searching: _Tool, wanted: DomainGoal, table: Table) -> int:
    """The rows that the published derivation finds for a search goal.

    It doubles apostrophes as one would in SQL but compares cells, so no such name is found.
    """
    arguments = searching.goal(wanted.info).arguments
    query = {name: str(value).replace("'", "''") for name, value in arguments.items()}
    return table.matches(query, verbatim, inclusive=False)


def _scrambled(searching: _Tool, wanted: DomainGoal, table: Table) -> JSON:
    """What the published derivation takes for the entity when the data does not name it.

    It pairs the documented columns with the cells of the first match in the order of the table,
    which is another one.
    """
    rows = _published_matches(searching, wanted, table)
    if not rows:
        return ""
    cells = table.rows[database.first(rows)].values()
    return dict(zip(searching.definition.returns, cells, strict=False)).get(table.key, "")


def _true_entity(searching: _Tool, record: Record, table: Table) -> JSON:
    """The entity that was meant: named in the state or an earlier booking, else the first match."""
    domain = searching.domain
    named: list[JSON] = [record.beliefs[domain].get(table.key, "")]
    named += [item.get(table.key, "") for item in reversed(record.booked[domain])]
    known = table.column(table.key, normalise)
    for name in named:
        if isinstance(name, str) and known.select("equal", normalise(name)):
            return name
    said = stated(searching.goal(record.goals[domain].info).arguments, "fixed")
    query = {name: str(value) for name, value in said.items()}
    rows = table.matches(query, normalise, inclusive=True)
    return table.rows[database.first(rows)][table.key] if rows else None
