"""How the agent puts things: offers, answers, questions. Text out, no decisions.

Every function takes a `variant`, any number: it picks one of several ways to say the same.
"""

from collections.abc import Mapping, Sequence
from string import capwords
from typing import Final

from drl.domains.toolwoz.spelling import cuisine, listed, title
from drl.types import JSON

Row = Mapping[str, JSON]

_SPOKEN: Final = {
    "swimmingpool": "swimming pool",
    "concerthall": "concert hall",
    "mutliple sports": "multiple sports venue",
    "architecture": "architecture attraction",
    "boat": "boat attraction",
    "entertainment": "entertainment venue",
}
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
        return _pick(
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
        opening = _pick(variant, "Could you tell me", "To book, may I ask", "Can you tell me")
    else:
        opening = _pick(variant, "Could you tell me", "May I ask", "Can you tell me")
    return f"{opening} {listed(wanted)}?"


def offer(domain: str, row: Row, variant: int) -> str:
    """The entity that a search returned, with what is known of it."""
    if domain == "train":
        return _train(row, variant)
    name = title(_text(row, "name") or "it")
    start = _pick(variant, f"{name} is", f"I found {name},", f"How about {name}? It is")
    kind, extras = _kind(domain, row)
    area = _text(row, "area")
    where = f" in the {area}" if area else ""
    described = f"{start} {_article(kind)} {kind}{where}"
    return f"{described}{extras}."


def answer(domain: str, row: Row, slot: str) -> str:
    """What the row says about one slot that the customer asked for."""
    slot = {"price": "entrance fee"}.get(slot, slot) if domain == "attraction" else slot
    slot = "pricerange" if slot == "price" and domain in ("hotel", "restaurant") else slot
    value = _text(row, slot)
    subject = "the train" if domain == "train" else title(_text(row, "name") or "it")
    if not value or value == "?":
        return f"I am afraid the {_NOUNS.get(slot, slot)} of {subject} is not known"
    if slot in ("internet", "parking"):
        has = "has" if value == "yes" else "does not have"
        return f"it {has} free {'wifi' if slot == 'internet' else 'parking'}"
    if slot == "entrance fee":
        return "entrance is free" if value == "free" else f"the entrance fee is {value}"
    if slot == "stars":
        return f"it has {value} star{'' if value == '1' else 's'}"
    if slot == "area":
        return f"it is in the {value}"
    if slot == "type":
        value = _SPOKEN.get(value, value)
        return f"it is {_article(value)} {value}"
    if slot == "food":
        return f"it serves {cuisine(value)} food"
    return f"the {_NOUNS.get(slot, slot)} is {shown_as(slot, value)}"


_NOUNS: Final = {
    "phone": "phone number",
    "pricerange": "price range",
    "duration": "travel time",
    "trainID": "train ID",
    "leaveAt": "departure time",
    "arriveBy": "arrival time",
}


def not_found(domain: str, wanted: Mapping[str, JSON], variant: int) -> str:
    """That a search came back empty."""
    noun = "place called " + title(str(wanted["name"])) if "name" in wanted else domain
    described = "" if "name" in wanted else described_as(wanted)
    return _pick(
        variant,
        f"I am sorry, I could not find any {noun}{described}. Shall I look for something else?",
        f"Unfortunately there is no {noun}{described}. Would you like to change something?",
        f"I am afraid I found no {noun}{described}. Would you like to try something different?",
    )


def described_as(wanted: Mapping[str, JSON]) -> str:
    """The customer's wishes as they follow a noun: ' in the north with free parking'."""
    shown = {slot: shown_as(slot, str(value)) for slot, value in wanted.items()}
    parts = [
        text.format(shown[slot])
        for slot, text in (
            ("food", "serving {} food"),
            ("type", "of the type {}"),
            ("departure", "from {}"),
            ("destination", "to {}"),
            ("day", "on {}"),
            ("leaveAt", "after {}"),
            ("arriveBy", "arriving by {}"),
            ("area", "in the {}"),
            ("pricerange", "in the {} price range"),
        )
        if slot in shown
    ]
    has, lacks = [], []
    for slot, noun in (("stars", "stars"), ("internet", "wifi"), ("parking", "parking")):
        value = shown.get(slot)
        if slot == "stars" and value is not None:
            has.append(f"{value} {'star' if value == '1' else 'stars'}")
        elif value is not None:
            (has if value == "yes" else lacks).append(f"free {noun}" if value == "yes" else noun)
    parts += [f"with {listed(has)}"] if has else []
    parts += [f"without {' or '.join(lacks)}"] if lacks else []
    return "".join(f" {part}" for part in parts)


def shown_as(slot: str, value: str) -> str:
    """A value as it looks in a sentence."""
    if slot in ("departure", "destination", "day", "address", "name"):
        return title(value)
    if slot == "food":
        return cuisine(value)
    return value.upper() if slot == "postcode" else _SPOKEN.get(value, value)


def booked(domain: str, arguments: Mapping[str, JSON], reference: str, variant: int) -> str:
    """That a booking succeeded."""
    details = _details(domain, arguments)
    return _pick(
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
    return _pick(
        variant,
        f"I am sorry, the booking was not successful{why}. Would you like to try {change}?",
        f"Unfortunately I could not book {_details(domain, arguments)}{why}. "
        f"Shall we try {change}?",
        f"I am afraid that booking failed{why}. Would {change} work for you?",
    )


def offer_to_book(variant: int) -> str:
    """Asks whether to book what was offered."""
    return _pick(
        variant,
        "Would you like me to book it for you?",
        "Shall I book it?",
        "Would you like to make a booking?",
    )


def more(variant: int) -> str:
    """Asks whether there is anything else."""
    return _pick(
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
    return _pick(
        variant,
        "You are welcome. Enjoy your time in Cambridge!",
        "Glad I could help. Have a lovely trip!",
        "My pleasure. Goodbye, and enjoy your visit!",
    )


def _train(row: Row, variant: int) -> str:
    number, day = _text(row, "trainID"), capwords(_text(row, "day"))
    start, end = title(_text(row, "departure")), title(_text(row, "destination"))
    leave, arrive = _text(row, "leaveAt"), _text(row, "arriveBy")
    return _pick(
        variant,
        f"Train {number} leaves {start} at {leave} on {day} and arrives in {end} at {arrive}.",
        f"There is train {number} on {day}: it leaves {start} at {leave} and gets to {end} at "
        f"{arrive}.",
        f"I found train {number}, departing {start} at {leave} on {day} and arriving in {end} "
        f"at {arrive}.",
    )


def _kind(domain: str, row: Row) -> tuple[str, str]:
    """What an entity is, and what it has."""
    price, kind = _text(row, "pricerange"), _text(row, "type")
    price = "moderate-priced" if price == "moderate" else price
    if domain == "restaurant":
        return f"{price} {cuisine(_text(row, 'food'))} restaurant".strip(), ""
    if domain == "attraction":
        fee = _text(row, "entrance fee")
        extras = {"": "", "?": "", "free": ". Entrance is free"}.get(fee, f". Entrance costs {fee}")
        return _SPOKEN.get(kind, kind) or "place to visit", extras
    stars = _text(row, "stars")
    has = [f"{stars} star{'' if stars == '1' else 's'}"] if stars else []
    lacks = []
    for slot, noun in (("internet", "free wifi"), ("parking", "free parking")):
        value = _text(row, slot)
        if value:
            (has if value == "yes" else lacks).append(noun if value == "yes" else noun[5:])
    extras = f" with {listed(has)}" if has else ""
    if lacks:
        extras += f" but no {' and no '.join(lacks)}" if has else f" without {' or '.join(lacks)}"
    return f"{price} {kind or 'place to stay'}".strip(), extras


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


def _text(row: Row, slot: str) -> str:
    value = row.get(slot)
    return value if isinstance(value, str) else ""


def _article(noun: str) -> str:
    return "an" if noun[:1] in "aeiou" else "a"


def _pick(variant: int, *ways: str) -> str:
    return ways[variant % len(ways)]
