"""What a careful agent does next, given what it believes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from drl.agent._belief import Belief, DomainBelief
from drl.agent._lexicon import Lexicon

_KEYS: Final = frozenset({"name", "trainID"})
_TIMES: Final = frozenset({"leaveAt", "arriveBy"})
_ORDER: Final = (
    *("departure", "destination", "food", "area", "pricerange", "type", "day"),
    *("stars", "internet", "parking", "leaveAt", "arriveBy"),
)
_AT_ONCE: Final = 3
"""Slots in one question; people do not keep more in mind."""


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask the customer for slots of a domain; `booking` slots or those of a search."""

    domain: str
    slots: tuple[str, ...]
    booking: bool


@dataclass(frozen=True, slots=True)
class Search:
    """Search a domain."""

    domain: str
    arguments: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Book:
    """Book the entity under discussion."""

    domain: str
    arguments: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Tell:
    """Tell the customer what came of the calls, and what they asked for."""

    domain: str


@dataclass(frozen=True, slots=True)
class Recommend:
    """Careless: offer an entity without having searched."""

    domain: str
    entity: str


@dataclass(frozen=True, slots=True)
class Claim:
    """Careless: say that a booking was made without having made it."""

    domain: str
    arguments: Mapping[str, str]
    reference: str


@dataclass(frozen=True, slots=True)
class Stall:
    """Careless: promise instead of doing."""


@dataclass(frozen=True, slots=True)
class Greet:
    """Find out what it is about."""


@dataclass(frozen=True, slots=True)
class Farewell:
    """The customer has all they want."""


Decision = Ask | Search | Book | Tell | Greet | Farewell | Recommend | Claim | Stall


def decide(belief: Belief, lexicon: Lexicon, *, has_news: bool) -> Decision:
    """The next step that brings the customer closest to what they want.

    `has_news` says that calls of this turn have returned, so the customer has to hear of them.
    """
    here, domain = belief.current, belief.active
    if here is None or domain is None:
        return Farewell() if belief.done else Greet()
    if here.searched is None or needs_search(here):
        if belief.done and not here.wanted:
            return Farewell()
        missing = missing_for_search(here, lexicon.searches[domain])
        if missing:
            return Ask(domain, missing, booking=False)
        return Search(domain, dict(here.wanted))
    if here.wants_booking and here.row is not None and domain in lexicon.bookings:
        slots = lexicon.bookings[domain]
        missing = tuple(s for s in slots if s not in _KEYS and not here.is_answered(s))
        if any(not here.is_settled(slot) for slot in missing):
            return Ask(domain, missing, booking=True)
        arguments = booking_arguments(here, slots)
        if not missing and arguments != here.tried:
            return Book(domain, arguments)
    if belief.done and not belief.requests and not has_news:
        return Farewell()
    return Tell(domain)


def needs_search(here: DomainBelief) -> bool:
    """Whether the last search is not what the customer wants now."""
    return here.searched is None or dict(here.searched) != here.wanted


def missing_for_search(here: DomainBelief, slots: tuple[str, ...]) -> tuple[str, ...]:
    """The slots to ask for next before a search; none when it can be made."""
    if "name" in here.wanted:
        return ()
    ordered = sorted(slots, key=lambda slot: _ORDER.index(slot) if slot in _ORDER else 99)
    missing = [slot for slot in ordered if slot not in _KEYS and not here.is_settled(slot)]
    if _TIMES & here.wanted.keys() or not set(missing) >= _TIMES:
        missing = [slot for slot in missing if slot not in _TIMES]
    first = [slot for slot in missing if slot not in _TIMES][:_AT_ONCE]
    return tuple(first or missing)


def booking_arguments(here: DomainBelief, slots: tuple[str, ...]) -> dict[str, str]:
    """What a booking of the entity under discussion is called with."""
    row = here.row or {}
    known = {**here.booking, **{key: str(row[key]) for key in _KEYS if row.get(key) is not None}}
    return {slot: known[slot] for slot in slots if slot in known}
