"""The goals, tools and customers' wishes of ToolWOZ in the layout of josh-train's JSON files."""

import copy
from collections.abc import Iterator, Mapping
from typing import NotRequired, TypedDict

from drl.domains.toolwoz.database import positions
from drl.domains.toolwoz.matching import key_of
from drl.domains.toolwoz.normalise import is_empty, verbatim
from drl.domains.toolwoz.record import DOMAINS, DomainGoal, Record
from drl.domains.toolwoz.world import Scene, World
from drl.types import JSON, Goal


class GoalApi(TypedDict):
    """What one goal asks for; bookings also have the `unique_id` of the booked entity.

    `parameters` has every parameter of the tool, an empty text where nothing is asked for.
    `returns` are the rows that match a search, or what the booking returned.
    """

    parameters: dict[str, JSON]
    returns: JSON
    unique_id: NotRequired[JSON]


class DomainApis(TypedDict):
    """The goals of one domain, calls that are expected to fail, and what the customer asks."""

    success: dict[str, GoalApi]
    failure: dict[str, GoalApi]
    requests: list[str]


Apis = dict[str, DomainApis]
"""The goals of one dialogue by domain."""

_DOMAINS_LEFT_OUT = ("taxi", "police", "hospital")
"""No dialogue of ToolWOZ has a goal in them, but josh-train lists them."""


class ApiIndex(Mapping[str, Apis]):
    """The goals of every dialogue by its id, laid out anew each time one is asked for."""

    def __init__(self, world: World) -> None:
        self._world = world

    def __getitem__(self, convo_key: str) -> Apis:
        scene = self._world.scene(convo_key)
        return {domain: _of_domain(scene, domain) for domain in scene.derived.requests}

    def __iter__(self) -> Iterator[str]:
        for split in ("train", "val", "full_test"):
            yield from self._world.splits[split]

    def __len__(self) -> int:
        return sum(len(self._world.splits[split]) for split in ("train", "val", "full_test"))


def wishes(record: Record) -> dict[str, JSON]:
    """What the customer was told: the instructions as `message`, and each domain's wishes."""
    told: dict[str, JSON] = {
        domain: _wished(record.goals[domain]) if domain in record.goals else {}
        for domain in (*_DOMAINS_LEFT_OUT, *DOMAINS)
    }
    told["message"] = list(record.messages)
    return told


def definitions(world: World) -> dict[str, dict[str, dict[str, list[str]]]]:
    """By domain and tool: the parameters, and what the tool is documented to return."""
    by_domain: dict[str, dict[str, dict[str, list[str]]]] = {}
    for name, tool in world.definitions.items():
        domain = name.partition("_")[2]
        by_domain.setdefault(domain, {})[name] = {
            "parameters": list(tool.parameters),
            "returns": list(tool.returns),
        }
    return by_domain


def examples(world: World) -> list[dict[str, JSON]]:
    """Each tool on offer with one value for every parameter, as its description gives it."""
    return [
        {"name": spec.name, "parameters": _example_values(spec.parameters["properties"])}
        for spec in world.toolbox.specs
    ]


def _example_values(properties: JSON) -> dict[str, JSON]:
    values: dict[str, JSON] = {}
    if isinstance(properties, Mapping):
        for name, described in properties.items():
            text = described.get("description") if isinstance(described, Mapping) else None
            values[name] = str(text or "").partition(" e.g. ")[2]
    return values


def _of_domain(scene: Scene, domain: str) -> DomainApis:
    wanted = scene.record.goals[domain]
    search, book = f"search_{domain}", f"book_{domain}"
    apis: DomainApis = {"success": {}, "failure": {}, "requests": list(wanted.reqt)}
    for goal in scene.derived.goals:
        if goal.kind == search:
            apis["success"][search] = _searching(scene, domain, wanted.info)
        elif goal.kind == book:
            apis["success"][book] = _booking(scene, goal, wanted)
    if wanted.fail_info:
        tried = {**wanted.info, **wanted.fail_info}
        apis["failure"][search] = _searching(scene, domain, tried)
    if wanted.fail_book:
        parameters = _filled(scene, book, {**wanted.book, **wanted.fail_book})
        parameters[key_of(domain)] = ""
        apis["failure"][book] = {"parameters": parameters, "returns": []}
    return apis


def _searching(scene: Scene, domain: str, wanted: Mapping[str, JSON]) -> GoalApi:
    table = scene.world.tables[domain]
    parameters = _filled(scene, f"search_{domain}", wanted)
    query = {name: str(value) for name, value in parameters.items() if not is_empty(value)}
    found = positions(table.matches(query, verbatim, inclusive=False))
    rows = [table.rows[row] for row in found]
    # rows and bookings belong to all conversations, so whoever changes these gets copies
    return {"parameters": parameters, "returns": copy.deepcopy(rows)}


def _booking(scene: Scene, goal: Goal, wanted: DomainGoal) -> GoalApi:
    entity, item = goal.details["entity"], goal.details["booking"]
    assert isinstance(item, Mapping)
    key = key_of(goal.domain)
    return {
        "parameters": _filled(scene, goal.kind, wanted.book) | {key: entity},
        "returns": copy.deepcopy(dict(item)),
        "unique_id": entity,
    }


def _filled(scene: Scene, tool: str, values: Mapping[str, JSON]) -> dict[str, JSON]:
    """A value for every parameter of a tool."""
    return {name: values.get(name, "") for name in scene.world.definitions[tool].parameters}


def _wished(wanted: DomainGoal) -> dict[str, JSON]:
    return {
        "info": dict(wanted.info),
        "fail_info": dict(wanted.fail_info),
        "book": dict(wanted.book),
        "fail_book": dict(wanted.fail_book),
        "reqt": list(wanted.reqt),
    }
