"""Turns a decision into the ReAct text that states it: a private plan, then a call or a reply."""

from collections.abc import Sequence
from typing import Final

from drl.agent import _showing as showing
from drl.agent import _wording as wording
from drl.agent._belief import Belief, DomainBelief
from drl.agent._decide import (
    Ask,
    Book,
    Claim,
    Decision,
    Farewell,
    Greet,
    Recommend,
    Search,
    Stall,
    Tell,
    missing_for_search,
)
from drl.agent._lexicon import Lexicon
from drl.agent._react import render_call, render_reply
from drl.domains.toolwoz.spelling import listed
from drl.types import Step, ToolCall

_SHOWN_IN_OFFER: Final = {
    "hotel": frozenset({"name", "pricerange", "type", "area", "stars", "internet", "parking"}),
    "restaurant": frozenset({"name", "pricerange", "food", "area"}),
    "attraction": frozenset({"name", "type", "area"}),
    "train": frozenset({"trainID", "departure", "destination", "day", "leaveAt", "arriveBy"}),
}


def render(
    decision: Decision, belief: Belief, lexicon: Lexicon, steps: Sequence[Step], variant: int
) -> str:
    """The output of an agent that has decided; `steps` are those of the turn so far."""
    match decision:
        case Search(domain, arguments):
            plan = f"I know what the customer wants of the {domain}, so I search for it."
            return render_call(plan, ToolCall(f"search_{domain}", arguments))
        case Book(domain, arguments):
            plan = f"The customer wants this {domain} booked and I have all details."
            return render_call(plan, ToolCall(f"book_{domain}", arguments))
        case Ask(domain, slots, booking):
            purpose = "before I can book" if booking else "before I search"
            plan = f"I still need {listed(list(slots))} {purpose}."
            news = _news(belief, domain, steps, variant) if booking else ""
            answers = _answers(belief, domain, offered=bool(news)) if booking else ""
            return render_reply(plan, _joined(news, answers, wording.ask(domain, slots, variant)))
        case Tell(domain):
            plan = "I tell the customer what I found out."
            return render_reply(plan, _told(belief, lexicon, domain, steps, variant))
        case Recommend(domain, entity):
            plan = f"I know a {domain} that should do."
            return render_reply(plan, _recommended(belief, domain, entity, variant))
        case Claim(domain, arguments, reference):
            text = wording.booked(domain, arguments, reference, variant)
            return render_reply("That is booked.", f"{text} {wording.more(variant)}")
        case Stall():
            return render_reply("I will look into it.", "One moment please, let me check that.")
        case Greet():
            return render_reply("I do not know yet what it is about.", wording.greet())
        case Farewell():
            return render_reply("The customer has everything.", wording.farewell(variant))


def _told(
    belief: Belief, lexicon: Lexicon, domain: str, steps: Sequence[Step], variant: int
) -> str:
    here = belief.domains[domain]
    news = _news(belief, domain, steps, variant)
    if here.row is None:
        return news or wording.not_found(domain, here.wanted, variant)
    if not news and belief.asked_to_book and here.tried is not None:
        news = _booking_news(here, domain, variant)
    elif not news and belief.gave_values:
        news = showing.offer(domain, here.row, variant)
    answers = _answers(belief, domain, offered=bool(news))
    return _joined(news, answers, _closing(belief, lexicon, domain, news, variant))


def _news(belief: Belief, domain: str, steps: Sequence[Step], variant: int) -> str:
    """What the calls of this turn brought."""
    here = belief.domains[domain]
    calls = [call for step in steps for call in step.calls]
    parts: list[str] = []
    if any(call.name == f"search_{domain}" for call in calls):
        if here.row is None:
            return wording.not_found(domain, here.wanted, variant)
        parts.append(showing.offer(domain, here.row, variant))
    if any(call.name == f"book_{domain}" for call in calls):
        parts.append(_booking_news(here, domain, variant))
    return " ".join(parts)


def _booking_news(here: DomainBelief, domain: str, variant: int) -> str:
    """How the last attempt to book went."""
    arguments = here.tried or {}
    if here.reference is None:
        return wording.refused(domain, arguments, here.reason, variant)
    return wording.booked(domain, arguments, here.reference, variant)


def _answers(belief: Belief, domain: str, *, offered: bool) -> str:
    """What the customer asked for, as far as the offer does not say it."""
    here = belief.domains[domain]
    shown = _SHOWN_IN_OFFER.get(domain, frozenset()) if offered else frozenset[str]()
    slots = sorted(belief.requests - shown - {"reference", "time", "name"})
    told = showing.answers(domain, here.row or {}, slots) if slots else ""
    if "reference" not in belief.requests or offered:
        return told
    if here.reference:
        return _joined(told, f"The reference number is {here.reference}.")
    return _joined(told, "Nothing is booked yet, so there is no reference number.")


def _closing(belief: Belief, lexicon: Lexicon, domain: str, news: str, variant: int) -> str:
    """The question that hands over to the customer."""
    here = belief.domains[domain]
    if news.endswith("?"):
        return ""
    for other, there in belief.domains.items():
        if other != domain and there.mentioned and there.searched is None:
            missing = missing_for_search(there, lexicon.searches[other])
            question = wording.ask(other, missing, variant) if missing else "shall I look now?"
            return f"As for the {other}: {question[:1].lower()}{question[1:]}"
    bookable = domain in lexicon.bookings and here.row is not None
    if bookable and here.tried is None and not here.declined_booking and not here.wants_booking:
        return wording.offer_to_book(variant)
    return wording.more(variant)


def _recommended(belief: Belief, domain: str, entity: str, variant: int) -> str:
    """An offer out of thin air: the entity, said to be what the customer wants."""
    wanted = belief.domains[domain].wanted
    if domain == "train":
        offer = f"There is train {entity}{showing.described_as(wanted)}."
    else:
        offer = showing.offer(domain, {**wanted, "name": entity}, variant)
    question = wording.more(variant) if domain == "attraction" else wording.offer_to_book(variant)
    return f"{offer} {question}"


def _joined(*parts: str) -> str:
    return " ".join(part for part in parts if part)
