"""What a customer of a dialogue is told: instructions, wishes by domain, and no answer."""

import re
from collections.abc import Mapping
from typing import Final

from drl.domains.toolwoz.goals import Definition
from drl.domains.toolwoz.record import DOMAINS, DomainGoal, Record
from drl.types import JSON, Brief, Wish

_TAG: Final = re.compile(r"</?span[^>]*>")
_LABEL: Final = re.compile(r"^Task \d+: ")
_OPENING: Final = re.compile(
    r"looking for (?:a )?(?:particular )?"
    r"(train|restaurant|place to dine|hotel|place to stay|attraction|places to go)"
)
_DOMAIN_OF: Final = {
    "train": "train",
    "restaurant": "restaurant",
    "place to dine": "restaurant",
    "hotel": "hotel",
    "place to stay": "hotel",
    "attraction": "attraction",
    "places to go": "attraction",
}


def brief(record: Record, definitions: Mapping[str, Definition]) -> Brief:
    """The brief of a dialogue; wishes come in the order of the instructions.

    A constraint may be "dontcare": the customer was told that it does not matter. `human_turns`
    are what a human said in answer to a human agent, so they may name what that agent offered.
    """
    instructions = tuple(_LABEL.sub("", _TAG.sub("", text)).strip() for text in record.messages)
    mentioned = [_DOMAIN_OF[found] for text in instructions for found in _OPENING.findall(text)]
    order = dict.fromkeys([*mentioned, *DOMAINS])
    wishes = tuple(
        _wish(domain, record.goals[domain], definitions)
        for domain in order
        if domain in record.goals
    )
    return Brief(instructions, wishes, record.human_turns, record.human_replies)


def _wish(domain: str, wanted: DomainGoal, definitions: Mapping[str, Definition]) -> Wish:
    search = definitions[f"search_{domain}"].parameters
    book = definitions[f"book_{domain}"].parameters
    constraints, booking = _said(wanted.info, search), _said(wanted.book, book)
    first_constraints = {**constraints, **_said(wanted.fail_info, search)}
    first_booking = {**booking, **_said(wanted.fail_book, book)}
    return Wish(
        domain=domain,
        constraints=constraints,
        # some dialogues list the final wish as failing too; there is no first attempt then
        first_constraints={} if first_constraints == constraints else first_constraints,
        booking=booking,
        first_booking={} if first_booking == booking else first_booking,
        requests=wanted.reqt,
    )


def _said(values: Mapping[str, JSON], parameters: tuple[str, ...]) -> dict[str, str]:
    """The values that a tool can be told, in the order of the data; flags of annotators are not."""
    return {
        name: value
        for name, value in values.items()
        if name in parameters and isinstance(value, str) and value
    }
