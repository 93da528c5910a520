"""Finds values in what people say about ToolWOZ's domains: 'leave after 13:15' -> leaveAt.

Word by word and without any model: text becomes tokens, known phrases are found by their first
word, and the words around a phrase say which slot it fills or that it is ruled out.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Generic, TypeVar

from drl.domains.toolwoz import vocabulary as words
from drl.domains.toolwoz.vocabulary import word_set

T = TypeVar("T")

STOPS: Final = frozenset(".,;!?")
_TOKEN: Final = re.compile(
    r"\d{1,2}:\d{2}(?:\s?[ap]\.?m\b)?|\d{1,2}\s?[ap]\.?m\b|[a-z\d]+|[.,;!?]", re.ASCII
)
_TIME: Final = re.compile(r"(\d{1,2})(?::(\d{2}))?\s?(?:([ap])\.?m)?", re.ASCII)
_SPELLINGS: Final = {
    "center": "centre",
    "theater": "theatre",
    "st": "saint",
    "archaelogy": "archaeology",
    "traveling": "travelling",
    "guesthouse": "guest house",
    "guesthouses": "guest houses",
}
_REPLACED: Final = (
    ("\u2019", "'"),
    ("'d ", " would "),
    ("'", ""),
    (" & ", " and "),
    ("&", " and "),
    ("bed and breakfast", "b and b"),
    ("wi-fi", "wifi"),
)


@dataclass(frozen=True, slots=True)
class Mention:
    """A value in a text: tokens `start` to `end` fill `slot`.

    Slots are the tools' parameters; `station`, `number` are those whose role the text leaves
    open. `domain` is set where the value belongs to one domain only. `denied` values are ruled
    out ("not in the north").
    """

    slot: str
    value: str
    start: int
    end: int
    domain: str | None = None
    denied: bool = False


class PhraseIndex(Generic[T]):
    """Finds known phrases in tokens; the longest phrase wins, and no two overlap."""

    def __init__(self, phrases: Iterable[tuple[str, T]]) -> None:
        self._by_first: dict[str, list[tuple[tuple[str, ...], T]]] = {}
        for phrase, payload in phrases:
            if parts := tokens(phrase):
                self._by_first.setdefault(parts[0], []).append((parts, payload))
        for entries in self._by_first.values():
            entries.sort(key=lambda entry: -len(entry[0]))

    def find(self, text: Sequence[str], taken: Sequence[bool] = ()) -> list[tuple[int, int, T]]:
        """(start, end, payload) of each phrase, left to right; `taken` tokens are skipped."""
        found: list[tuple[int, int, T]] = []
        here = 0
        while here < len(text):
            end = here + 1
            if not (taken and taken[here]):
                for parts, payload in self._by_first.get(text[here], ()):
                    if tuple(text[here : here + len(parts)]) == parts:
                        end = here + len(parts)
                        found.append((here, end, payload))
                        break
            here = end
        return found


@lru_cache(maxsize=1 << 14)
def tokens(text: str) -> tuple[str, ...]:
    """Words, times, numbers and the marks that end a clause, in one spelling."""
    text = text.lower()
    for old, new in _REPLACED:
        text = text.replace(old, new)
    found: list[str] = []
    for token in map(str, _TOKEN.findall(text)):
        found.extend(_SPELLINGS[token].split() if token in _SPELLINGS else (token,))
    return tuple(found)


def by_form(table: words.Forms) -> Iterable[tuple[str, str]]:
    """(form, value) for each way of saying each value of a table."""
    for value, forms in table.items():
        yield value, value
        for form in forms:
            yield form, value


@lru_cache(maxsize=1 << 14)
def read_values(text: tuple[str, ...], taken: tuple[bool, ...] = ()) -> tuple[Mention, ...]:
    """All values in a text, in order; `taken` marks tokens that are read already (names)."""
    mentions = [
        _in_context(text, Mention(slot, value, start, end, domain))
        for start, end, (slot, value, domain) in _phrases().find(text, taken)
    ]
    for position, token in enumerate(text):
        if token[0].isdigit() and not (taken and taken[position]):
            if (time := clock(token)) is not None:
                # A table is booked for the time as it was said; times of trains are compared.
                timed = _timed(text, position, time)
                plain = timed.slot == "time" and token[-1].isdigit()
                mentions.append(replace(timed, value=token) if plain else timed)
            elif token.isdigit() and len(token) < 3:
                mentions.append(_counted(text, position, token))
        elif token in words.NUMBERS and not (taken and taken[position]):
            counted = _counted(text, position, words.NUMBERS[token])
            if token != "one" or counted.slot != "number" or len(text) <= 3:
                mentions.append(counted)
    return tuple(sorted(mentions, key=lambda mention: mention.start))


def clock(token: str) -> str | None:
    """A time of day as HH:MM; None for tokens that are no time."""
    if ":" not in token and not token.endswith("m"):
        return None
    match = _TIME.fullmatch(token)
    if match is None:
        return None
    hour, minute, half = int(match[1]), int(match[2] or 0), match[3]
    if half is not None:
        hour = hour % 12 + (12 if half == "p" else 0)
    return f"{hour:02d}:{minute:02d}" if hour < 25 and minute < 60 else None


def clause_of(text: Sequence[str], position: int) -> tuple[int, int]:
    """Start and end of the clause around a token."""
    start = end = position
    while start > 0 and text[start - 1] not in STOPS:
        start -= 1
    while end < len(text) and text[end] not in STOPS:
        end += 1
    return start, end


@lru_cache(maxsize=1)
def _phrases() -> PhraseIndex[tuple[str, str, str | None]]:
    tables: Mapping[tuple[str, str | None], words.Forms] = {
        ("area", None): words.AREAS,
        ("pricerange", None): words.PRICE_RANGES,
        ("day", None): words.DAYS,
        ("station", "train"): words.STATIONS,
        ("type", "hotel"): words.HOTEL_TYPES,
        ("type", "attraction"): words.ATTRACTION_TYPES,
        ("food", "restaurant"): words.CUISINES,
    }
    entries = [
        (form, (slot, value, domain))
        for (slot, domain), table in tables.items()
        for form, value in by_form(table)
        if (slot, form) != ("type", "hotel")
    ]
    for amenity, forms in words.AMENITIES.items():
        entries += [(form, (amenity, "yes", "hotel")) for form in (amenity, *forms)]
    for alone in ("just me", "only me", "myself", "just myself", "alone", "on my own"):
        entries.append((alone, ("people", "1", None)))
    return PhraseIndex(entries)


def _in_context(text: Sequence[str], mention: Mention) -> Mention:
    """The mention with its role (stations) and with what the words around it deny."""
    if mention.slot in words.AMENITIES:
        return _amenity(text, mention)
    slot = _station_role(text, mention) if mention.slot == "station" else mention.slot
    denied = _denied(text, mention.start)
    return Mention(slot, mention.value, mention.start, mention.end, mention.domain, denied)


_FROM: Final = word_set(
    "from departing depart departs leaving leaves leave departure starting start out"
)
_TO: Final = word_set(
    "to into towards destination arriving arrive arrives reach reaches going heading for "
    "bound headed end ends"
)


def _station_role(text: Sequence[str], mention: Mention) -> str:
    for token in reversed(text[max(0, mention.start - 4) : mention.start]):
        if token in STOPS:
            break
        if token in _FROM:
            return "departure"
        if token in _TO:
            return "destination"
    return "departure" if mention.end < len(text) and text[mention.end] == "to" else "station"


_LEAVE: Final = word_set("after leave leaves leaving depart departs departing departure later from")
_ARRIVE: Final = word_set(
    "by before arrive arrives arriving arrival until reach reaches there gets"
)


def _timed(text: Sequence[str], position: int, time: str) -> Mention:
    slot = "time"
    for token in reversed(text[max(0, position - 6) : position]):
        if token in STOPS or token == "and":
            break
        if token in _LEAVE or token in _ARRIVE:
            slot = "leaveAt" if token in _LEAVE else "arriveBy"
            break
    return Mention(slot, time, position, position + 1, denied=_denied(text, position))


_PEOPLE: Final = word_set(
    "people persons person guests guest adults tickets ticket seats travellers passengers friends "
    "diners"
)
_NIGHTS: Final = word_set("night nights days")
_AFTER_PARTY: Final = frozenset((*STOPS, "on", "at", "starting", "please", "and", "this", "from"))


def _counted(text: Sequence[str], position: int, number: str) -> Mention:
    following = text[position + 1] if position + 1 < len(text) else "."
    before = tuple(text[max(0, position - 2) : position])
    slot = "number"
    if (
        following in ("star", "stars")
        or (before and before[-1] in ("stars", "rating"))
        or before in (("star", "of"), ("stars", "of"), ("rating", "of"))
    ):
        slot = "stars"
    elif following in _NIGHTS:
        slot = "stay"
    elif (
        following in _PEOPLE
        or tuple(text[position + 1 : position + 3]) == ("of", "us")
        or before in (("party", "of"), ("group", "of"))
        or (before and before[-1] == "for" and following in (*_AFTER_PARTY, *words.DAYS))
    ):
        slot = "people"
    number = str(int(number))
    return Mention(slot, number, position, position + 1, denied=_denied(text, position))


_NO: Final = word_set(
    "no not without nt dont doesnt isnt lacks lack shouldnt neither nor doesn don isn"
)
_BARRIER: Final = frozenset((*STOPS, "and", "but", "with", "though", "plus", "has"))


def _amenity(text: Sequence[str], mention: Mention) -> Mention:
    value = "yes"
    for token in reversed(text[max(0, mention.start - 6) : mention.start]):
        if token in _BARRIER:
            break
        if token in _NO:
            value = "no"
    after = tuple(text[mention.end : mention.end + 2])
    if (
        after[:1] == ("no",)
        or (after[:1] in (("is",), ("are",)) and after[1:] == ("not",))
        or after[:1] in (("isnt",), ("arent",), ("unavailable",))
    ):
        value = "no"
    return Mention(mention.slot, value, mention.start, mention.end, mention.domain)


def _denied(text: Sequence[str], start: int) -> bool:
    """Whether the words before rule the value out: 'not in the', 'rather than a'."""
    for position in range(start - 1, max(-1, start - 4), -1):
        token = text[position]
        if token in STOPS or token in ("and", "but", "or"):
            return False
        if token in ("not", "isnt"):
            return True
        if token in ("of", "than") and position > 0:
            pair = text[position - 1]
            if pair in ("instead", "rather", "other"):
                return True
    return False
