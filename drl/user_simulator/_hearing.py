"""What a customer takes from the agent's words: questions, offers, refusals, facts."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from drl.domains.toolwoz.comprehension import Mention, PhraseIndex, read_values, tokens
from drl.domains.toolwoz.questions import asked, sentences

MAX_CHARACTERS: Final = 4000
"""Nobody listens longer; what lies beyond is not heard, so that a turn costs what a turn may."""


@dataclass(frozen=True, slots=True)
class Heard:
    """One reply of the agent.

    `values` are what it states, not what it asks about. `facts` are kinds of detail that it tells
    (a phone number, a price); `unknown` says that it does not know something.
    """

    words: tuple[str, ...]
    asked: frozenset[str]
    values: tuple[Mention, ...]
    facts: frozenset[str]
    offers: bool
    not_found: bool
    refused: bool
    booked: bool
    reference: bool
    unknown: bool

    def says(self, name: str) -> bool:
        """Whether a name occurs, with or without its article."""
        wanted = tokens(name.removeprefix("the "))
        return any(
            self.words[at : at + len(wanted)] == wanted
            for at in range(len(self.words) - len(wanted) + 1)
        )

    def stated(self, slot: str) -> set[str]:
        """The values that it states for a slot."""
        return {m.value for m in self.values if m.slot == slot and not m.denied}


@lru_cache(maxsize=1 << 14)
def hear(text: str) -> Heard:
    """What a reply says."""
    text = text[:MAX_CHARACTERS]
    words = tokens(text)
    not_found = bool(_NOT_FOUND.find(words))
    refused = bool(_REFUSED.find(words))
    reference = bool(_REFERENCE.search(text))
    values = () if not_found else _stated(words)
    facts = frozenset(slot for slot, pattern in _FACTS.items() if pattern.search(text))
    return Heard(
        words=words,
        asked=asked(words),
        values=values,
        facts=facts | {m.slot for m in values},
        offers=not (not_found or refused) and bool(values or _OFFER.find(words)),
        not_found=not_found,
        refused=refused,
        booked=not refused and (reference or bool(_BOOKED.find(words))),
        reference=reference and not refused,
        unknown=bool(_UNKNOWN.find(words)),
    )


def _stated(words: tuple[str, ...]) -> tuple[Mention, ...]:
    """Values outside questions; 'how about ...?' is an offer, though, and no question."""
    spans = [
        (start, end)
        for start, end in sentences(words)
        if end == len(words) or words[end] != "?" or _OFFER.find(words[start:end])
    ]
    stated = [
        mention
        for mention in read_values(words)
        if mention.slot != "number" and any(s <= mention.start < e for s, e in spans)
    ]
    if not any(m.slot == "type" for m in stated):
        # In an offer the bare word is the type: "an expensive hotel in the centre".
        stated += [
            Mention("type", "hotel", at, at + 1, "hotel")
            for at, word in enumerate(words)
            if word == "hotel" and any(s <= at < e for s, e in spans)
        ]
    return tuple(stated)


def _phrases(text: str) -> PhraseIndex[str]:
    return PhraseIndex((phrase.strip(), "") for phrase in text.split(","))


_NOT_FOUND: Final = _phrases(
    "could not find, couldnt find, cannot find, cant find, found no, not find any, no match, "
    "no matches, nothing matches, nothing that matches, there is no, there are no, there isnt, "
    "there arent, came up empty, no results, unable to find, did not find, didnt find, none of, "
    "dont have any, do not have any, came up with nothing, not any, has no, no such, "
    "came up short, nothing came up, no luck, came up with no, not available in"
)
_REFUSED: Final = _phrases(
    "not successful, unsuccessful, could not book, couldnt book, unable to book, booking failed, "
    "could not make, couldnt make, cannot book, cant book, was refused, not possible to book, "
    "fully booked, no availability, could not be booked, couldnt be booked, not able to book, "
    "could not complete, booking was not, reservation failed, failed to book, could not reserve, "
    "unable to make, unable to reserve, is not available, are not available, cannot be booked"
)
_BOOKED: Final = _phrases(
    "booking was successful, booked, have reserved, is reserved, was successful, is confirmed, "
    "reservation is, booking is complete, booking is confirmed, have made the booking, "
    "have made your booking, has been reserved, reserved for you"
)
_OFFER: Final = _phrases(
    "how about, what about, i found, i have found, recommend, suggest, there is, there are, "
    "theres, would suit, i have, matches, we have, option, options, located"
)
_UNKNOWN: Final = _phrases(
    "is not known, are not known, not listed, dont have that, do not have that, "
    "no information, unknown, not available to me, do not know, dont know, not sure, "
    "not on file, have no record"
)
_REFERENCE: Final = re.compile(
    r"\b(?=[A-Z0-9]{6,10}\b)(?=\w*[A-Z])(?=\w*\d)(?!TR\d+\b)[A-Z0-9]+\b"
    r"|reference(?: number)?(?: is|:)? ?#?[A-Za-z0-9]{6,10}\b"
)
_FACTS: Final = {
    "phone": re.compile(r"(?<!\d)\d(?:[ -]?\d){8,12}(?!\d)"),
    "postcode": re.compile(r"\b[A-Za-z]{1,2}\d{1,3} ?\d?[A-Za-z]{2}\b"),
    "address": re.compile(
        r"\baddress\b|\blocated (?:at|on)\b|\b(?:road|street|lane|avenue|terrace|way|row|hill)\b",
        re.IGNORECASE,
    ),
    "entrance fee": re.compile(
        r"entrance|entry|admission|\bfee\b|\bpounds?\b|£|free to (?:enter|visit)", re.IGNORECASE
    ),
    "price": re.compile(r"£ ?\d|\d ?pounds|\bgbp\b", re.IGNORECASE),
    "duration": re.compile(r"\d+ ?(?:minutes|mins?\b|hours?)", re.IGNORECASE),
    "trainID": re.compile(r"\btr\d{3,5}\b", re.IGNORECASE),
    "leaveAt": re.compile(r"(?:leav|depart)[^.?!]{0,60}?\d{1,2}:\d{2}", re.IGNORECASE),
    "arriveBy": re.compile(r"(?:arriv|get(?:s|ting)? (?:to|in))[^.?!]{0,60}?\d{1,2}:\d{2}", re.I),
}
