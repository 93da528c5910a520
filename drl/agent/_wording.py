"""How the agent asks, and how it tells what became of a search or a booking.

Every function takes a `variant`, any number: it picks one of several ways to say the same.
"""

from collections.abc import Mapping, Sequence
from string import capwords
from typing import Final

from drl.agent._showing import described_as, pick, shown_as
from drl.domains.toolwoz.spelling import listed, title
from drl.types import JSON

_QUESTIONS: Final = {
    "area": "which area of town you would like",
    "pricerange": "what price range you have in mind",
    "food": "what kind of food you would like",
    "stars": "how many stars it should have",
    "internet": "whether you need internet",
    "parking": "whether you need parking",
    "departure": "where you are leaving from",
    "destination": "where you are travelling to",
    "day": "what day you would like",
    "leaveAt": "what time you would like to leave",
    "arriveBy": "what time you would like to arrive",
    "people": "how many people it is for",
    "stay": "how many nights you will stay",
    "time": "what time suits you",
}
_TYPES: Final = {
    "hotel": "whether you would like a hotel or a guesthouse",
    "attraction": "what type of attraction you would like",
}


def ask(domain: str, slots: Sequence[str], variant: int) -> str:
    """One question for some slots."""
    if set(slots) == {"leaveAt", "arriveBy"}:
        return pick(
            variant,
            "What time would you like to leave, or when do you need to arrive?",
            "Is there a time you want to leave after, or a time you have to arrive by?",
            "When would you like to leave, or by when do you have to arrive?",
        )
    wanted = [
        _TYPES.get(domain, slot) if slot == "type" else _QUESTIONS.get(slot, f"which {slot}")
        for slot in slots
    ]
    if {*slots} & {"people", "stay", "time"}:
        opening = pick(variant, "Could you tell me", "To book, may I ask", "Can you tell me")
    else:
        opening = pick(variant, "Could you tell me", "May I ask", "Can you tell me")
    return f"{opening} {listed(wanted)}?"


def not_found(domain: str, wanted: Mapping[str, JSON], variant: int) -> str:
    """That a search came back empty."""
    if "name" in wanted:
        noun, described = f"place called {title(str(wanted['name']))}", ""
    else:
        noun = shown_as("type", str(wanted.get("type", domain)))
        described = described_as({slot: wanted[slot] for slot in wanted if slot != "type"})
    return pick(
        variant,
        f"I am sorry, I could not find any {noun}{described}. Shall I look for something else?",
        f"Unfortunately there is no {noun}{described}. Would you like to change something?",
        f"I am afraid I found no {noun}{described}. Would you like to try something different?",
    )


def booked(domain: str, arguments: Mapping[str, JSON], reference: str, variant: int) -> str:
    """That a booking succeeded."""
    details = _details(domain, arguments)
    return pick(
        variant,
        f"Your booking was successful: {details}. The reference number is {reference}.",
        f"I have booked {details}. Your reference number is {reference}.",
        f"All done, {details} is booked. The reference number is {reference}.",
    )


def refused(domain: str, arguments: Mapping[str, JSON], reason: str | None, variant: int) -> str:
    """That a booking failed."""
    change = {
        "hotel": "another day or a different number of nights",
        "restaurant": "another day or a different time",
    }.get(domain, "something else")
    why = f" ({reason})" if reason else ""
    return pick(
        variant,
        f"I am sorry, the booking was not successful{why}. Would you like to try {change}?",
        f"Unfortunately I could not book {_details(domain, arguments)}{why}. "
        f"Shall we try {change}?",
        f"I am afraid that booking failed{why}. Would {change} work for you?",
    )


def offer_to_book(variant: int) -> str:
    """Asks whether to book what was offered."""
    return pick(
        variant,
        "Would you like me to book it for you?",
        "Shall I book it?",
        "Would you like to make a booking?",
    )


def more(variant: int) -> str:
    """Asks whether there is anything else."""
    return pick(
        variant,
        "Is there anything else I can help you with?",
        "Can I help you with anything else?",
        "Is there anything else you need?",
    )


def greet() -> str:
    """Asks what it is about."""
    return (
        "Hello! I can look up and book hotels, restaurants and trains, and find attractions. "
        "How can I help you?"
    )


def farewell(variant: int) -> str:
    """Ends the dialogue."""
    return pick(
        variant,
        "You are welcome. Enjoy your time in Cambridge!",
        "Glad I could help. Have a lovely trip!",
        "My pleasure. Goodbye, and enjoy your visit!",
    )


def _details(domain: str, arguments: Mapping[str, JSON]) -> str:
    told = {slot: str(value) for slot, value in arguments.items()}
    what = title(told["name"]) if "name" in told else told.get("trainID", f"the {domain}")
    parts = [what]
    if people := told.get("people"):
        parts.append(f"for {people} {'person' if people == '1' else 'people'}")
    if stay := told.get("stay"):
        parts.append(f"for {stay} night{'' if stay == '1' else 's'}")
    if time := told.get("time"):
        parts.append(f"at {time}")
    if day := told.get("day"):
        parts.append(f"{'from' if domain == 'hotel' else 'on'} {capwords(day)}")
    return " ".join(parts)
