"""What is kept of a published dialogue: enough to derive goals, brief a customer and replay one."""

from collections.abc import Mapping
from dataclasses import dataclass

from drl.types import JSON

DOMAINS = ("hotel", "attraction", "train", "restaurant")
"""The domains on offer, in the order in which the published goals list them."""


@dataclass(frozen=True, slots=True)
class DomainGoal:
    """What the customer was told to want in one domain, in the words of the data set."""

    info: Mapping[str, str]
    fail_info: Mapping[str, str]
    book: Mapping[str, JSON]
    fail_book: Mapping[str, JSON]
    reqt: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Record:
    """One published dialogue.

    `booked` holds, for domains with a booking, what the last system turn lists as booked;
    `beliefs` is that turn's belief state. `human_turns` are the customer's original words,
    `human_replies` what the human agent answered to each.
    """

    id: str
    goals: Mapping[str, DomainGoal]
    messages: tuple[str, ...]
    booked: Mapping[str, tuple[Mapping[str, JSON], ...]]
    beliefs: Mapping[str, Mapping[str, str]]
    human_turns: tuple[str, ...]
    human_replies: tuple[str, ...]


def from_published(dialogue: Mapping[str, JSON]) -> dict[str, JSON] | None:
    """The compact form of a published dialogue, or None where it is not part of ToolWOZ.

    Raises:
        KeyError, TypeError, IndexError: the dialogue is not laid out as published.
    """
    goal, log = _mapping(dialogue["goal"]), _sequence(dialogue["log"])
    if any(goal[domain] for domain in ("taxi", "police", "hospital")):
        return None
    present = {domain: _mapping(goal[domain]) for domain in DOMAINS if goal[domain]}
    final = _mapping(log[-1])["metadata"] or _mapping(log[-2])["metadata"]
    state = {domain: _mapping(_mapping(final)[domain]) for domain in present}
    bookable = [domain for domain, wanted in present.items() if wanted.get("book")]
    return {
        "goals": {domain: _wanted(wanted) for domain, wanted in present.items()},
        # one text instead of a list in the dialogues that come from an older collection
        "messages": [goal["message"]] if isinstance(goal["message"], str) else goal["message"],
        "booked": {domain: _mapping(state[domain]["book"])["booked"] for domain in bookable},
        "beliefs": {domain: state[domain]["semi"] for domain in bookable},
        "human_turns": [
            str(_mapping(turn)["text"]).strip() for turn in log if not _mapping(turn)["metadata"]
        ],
        "human_replies": [
            str(_mapping(turn)["text"]).strip() for turn in log if _mapping(turn)["metadata"]
        ],
    }


def from_compact(dialogue_id: str, compact: Mapping[str, JSON]) -> Record:
    """The record that `from_published` made compact.

    Raises:
        KeyError, TypeError: it is not such a form.
    """
    goals = {
        domain: DomainGoal(
            info=_texts(wanted["info"]),
            fail_info=_texts(wanted["fail_info"]),
            book=_mapping(wanted["book"]),
            fail_book=_mapping(wanted["fail_book"]),
            reqt=tuple(map(str, _sequence(wanted["reqt"]))),
        )
        for domain, wanted in _domains(compact["goals"]).items()
    }
    return Record(
        id=dialogue_id,
        goals=goals,
        messages=tuple(map(str, _sequence(compact["messages"]))),
        booked={
            domain: tuple(_mapping(item) for item in _sequence(items))
            for domain, items in _mapping(compact["booked"]).items()
        },
        beliefs={domain: _texts(held) for domain, held in _domains(compact["beliefs"]).items()},
        human_turns=tuple(map(str, _sequence(compact["human_turns"]))),
        human_replies=tuple(map(str, _sequence(compact["human_replies"]))),
    )


def _wanted(wanted: Mapping[str, JSON]) -> dict[str, JSON]:
    kept: dict[str, JSON] = {
        section: wanted.get(section) or {} for section in ("info", "fail_info", "book", "fail_book")
    }
    kept["reqt"] = wanted.get("reqt") or []
    return kept


def _domains(value: JSON) -> dict[str, Mapping[str, JSON]]:
    return {domain: _mapping(inner) for domain, inner in _mapping(value).items()}


def _texts(value: JSON) -> dict[str, str]:
    return {name: str(text) for name, text in _mapping(value).items()}


def _mapping(value: JSON) -> Mapping[str, JSON]:
    if not isinstance(value, Mapping):
        raise TypeError(f"expected an object, found {type(value).__name__}")
    return value


def _sequence(value: JSON) -> list[JSON]:
    if not isinstance(value, list):
        raise TypeError(f"expected a list, found {type(value).__name__}")
    return value
