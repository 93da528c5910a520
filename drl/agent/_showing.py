"""How the agent describes entities: offers, answers, and wishes as they follow a noun."""

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


def offer(domain: str, row: Row, variant: int) -> str:
    """The entity that a search returned, with what is known of it."""
    if domain == "train":
        return _train(row, variant)
    name = title(_text(row, "name") or "it")
    start = pick(variant, f"{name} is", f"I found {name},", f"How about {name}? It is")
    kind, extras = _kind(domain, row)
    area = _text(row, "area")
    where = f" in the {area}" if area else ""
    described = f"{start} {_article(kind)} {kind}{where}"
    return f"{described}{extras}."


def answers(domain: str, row: Row, slots: Sequence[str]) -> str:
    """Sentences about slots that the customer asked for; what is not known is said to be so."""
    told: list[str] = []
    unknown: list[str] = []
    for slot in slots:
        slot = _PRICES.get(domain, slot) if slot == "price" else slot
        text = _answer(row, slot)
        (unknown if text is None else told).append(text or f"the {_NOUNS.get(slot, slot)}")
    parts = [f"{listed(told)}."] if told else []
    if unknown:
        subject = "the train" if domain == "train" else title(_text(row, "name") or "it")
        verb = "is" if len(unknown) == 1 else "are"
        parts.append(f"I am afraid {listed(unknown)} of {subject} {verb} not known.")
    return " ".join(part[:1].upper() + part[1:] for part in parts)


def _answer(row: Row, slot: str) -> str | None:
    """What the row says about one slot; None when it does not."""
    value = _text(row, slot)
    if not value or value == "?":
        return None
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


_PRICES: Final = {
    "attraction": "entrance fee",
    "hotel": "pricerange",
    "restaurant": "pricerange",
}
"""What 'the price' means in a domain, where not the price itself."""
_NOUNS: Final = {
    "phone": "phone number",
    "pricerange": "price range",
    "duration": "travel time",
    "trainID": "train ID",
    "leaveAt": "departure time",
    "arriveBy": "arrival time",
}


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


def _train(row: Row, variant: int) -> str:
    number, day = _text(row, "trainID"), capwords(_text(row, "day"))
    start, end = title(_text(row, "departure")), title(_text(row, "destination"))
    leave, arrive = _text(row, "leaveAt"), _text(row, "arriveBy")
    return pick(
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


def _text(row: Row, slot: str) -> str:
    value = row.get(slot)
    return value if isinstance(value, str) else ""


def _article(noun: str) -> str:
    return "an" if noun[:1] in "aeiou" else "a"


def pick(variant: int, *ways: str) -> str:
    """One of several ways to say the same."""
    return ways[variant % len(ways)]
