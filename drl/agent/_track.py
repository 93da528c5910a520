"""Folds a dialogue into a belief: what each utterance means where it was said."""

import re
from typing import Final

from drl.agent._belief import Belief, DomainBelief
from drl.agent._lexicon import Lexicon
from drl.agent._understand import FACTS, MAX_CHARACTERS, Utterance, understand
from drl.agent.base import Situation
from drl.domains.toolwoz import vocabulary as words
from drl.domains.toolwoz.comprehension import Mention, tokens
from drl.domains.toolwoz.questions import BOOK, MORE, asked
from drl.types import Role

_TRAIN_ID: Final = re.compile(r"\bTR\d{4}\b")
_REFERENCE: Final = re.compile(r"reference number is ([A-Z0-9]{8})\b")
_COUNTS: Final = ("people", "stay", "stars")


def track(situation: Situation, lexicon: Lexicon, *, trusts_itself: bool) -> Belief:
    """The belief at the agent's move."""
    domains = {domain: DomainBelief() for domain in lexicon.searches}
    belief = Belief(domains, trusts_itself=trusts_itself)
    for turn in situation.history:
        if turn.role is Role.USER:
            hear(belief, lexicon, understand(lexicon, turn.text or ""))
        else:
            belief.take_steps(turn.steps)
            if trusts_itself and not any(step.calls for step in turn.steps):
                _believe_own_words(belief, lexicon, turn.text or "")
            _remember_questions(belief, turn.text or "")
    belief.take_steps(situation.steps)
    return belief


def hear(belief: Belief, lexicon: Lexicon, said: Utterance) -> None:
    """Take in one utterance of the customer."""
    belief.gave_values, belief.asked_to_book = bool(said.mentions), said.books
    asked_for = belief.asked - {BOOK, MORE}  # "no thanks" to a question about a slot ends nothing
    belief.done = said.done and not (said.mentions or said.requests or asked_for)
    for topic in said.topics:
        if topic in belief.domains:
            belief.domains[topic].mentioned = True
    before = belief.active
    if said.topic in belief.domains:
        belief.active = said.topic
    for mention in said.mentions:
        domain = mention.domain or before or belief.active or lexicon.domain_of(mention.slot)
        if domain in belief.domains and _is_about(belief, domain, mention, said):
            belief.active = belief.active or domain
            _take_value(belief, lexicon, domain, mention)
    here = belief.current
    if here is not None:
        _copy_same(belief, lexicon, said)
        _take_answers(belief, here, said)
        _take_booking_intent(belief, here, belief.domains[before] if before else here, said)
    belief.requests = frozenset(
        slot for slot in said.requests if not (here and slot in here.wanted and slot not in FACTS)
    )
    belief.asked = frozenset()


def _is_about(belief: Belief, domain: str, mention: Mention, said: Utterance) -> bool:
    """Whether a place is a station: Cambridge is also where everything else is."""
    if mention.slot not in ("station", "departure", "destination"):
        return True
    asked_for = {"departure", "destination"} & belief.asked
    both = {m.slot for m in said.mentions} >= {"departure", "destination"}
    return domain == belief.active or "train" in said.topics or bool(asked_for) or both


def _remember_questions(belief: Belief, text: str) -> None:
    spoken = tokens(text[:MAX_CHARACTERS])
    belief.asked = asked(spoken)
    for position in range(len(spoken) - 3):
        if spoken[position : position + 3] == ("as", "for", "the"):
            topic = spoken[position + 3]
            belief.active = topic if topic in belief.domains else belief.active
    here = belief.current
    if here is not None:
        for slot in belief.asked:
            here.asked[slot] = here.asked.get(slot, 0) + 1


def _believe_own_words(belief: Belief, lexicon: Lexicon, text: str) -> None:
    here = belief.current
    if here is None:
        return
    if here.searched is None or dict(here.searched) != here.wanted:
        train = _TRAIN_ID.search(text)
        names = [
            m.value
            for m in lexicon.names_in(tokens(text[:MAX_CHARACTERS]))
            if m.domain == belief.active
        ]
        if names or (train and belief.active == "train"):
            key, entity = ("trainID", train[0]) if train else ("name", names[0])
            here.row, here.searched = {key: entity, **here.wanted}, dict(here.wanted)
    if here.reference is None and (reference := _REFERENCE.search(text)):
        here.reference, here.tried = reference[1], dict(here.booking)


def _take_value(belief: Belief, lexicon: Lexicon, domain: str, mention: Mention) -> None:
    here = belief.domains[domain]
    here.mentioned = True
    slot = _role(belief, domain, mention)
    if slot in lexicon.searches.get(domain, ()):
        if mention.denied:
            if here.wanted.get(slot) == mention.value:
                del here.wanted[slot]
            if (slot, mention.value) == ("type", "guesthouse"):
                here.want("type", "hotel")
        elif slot == "name":
            _take_name(here, mention.value)
        else:
            if slot in ("leaveAt", "arriveBy"):
                here.wanted.pop("arriveBy" if slot == "leaveAt" else "leaveAt", None)
            here.doubt(slot, mention.value)
            here.want(slot, mention.value)
    elif slot in lexicon.bookings.get(domain, ()) and not mention.denied:
        here.booking[slot] = mention.value


def _take_name(here: DomainBelief, name: str) -> None:
    """A name is a new wish unless it is the entity under discussion."""
    if here.row is None or here.row.get("name") != name:
        if here.wanted.get("name") != name and here.searched is not None:
            here.wanted.clear()  # another entity: what the first had to be no longer counts
        here.want("name", name)


def _role(belief: Belief, domain: str, mention: Mention) -> str:
    """The slot of a value whose role only the question before it tells."""
    slot, asked_for = mention.slot, belief.asked
    if domain == "restaurant" and slot in ("leaveAt", "arriveBy"):
        return "time"
    if domain == "train" and slot == "time":
        return "arriveBy" if "arriveBy" in asked_for and "leaveAt" not in asked_for else "leaveAt"
    if slot == "station":
        ends = [end for end in ("departure", "destination") if end in asked_for]
        missing = [
            e
            for e in ends or ("departure", "destination")
            if e not in belief.domains[domain].wanted
        ]
        return missing[0] if len(missing) == 1 else (ends[0] if len(ends) == 1 else slot)
    if slot == "number":
        here = belief.domains[domain]
        open_counts = [count for count in _COUNTS if count in asked_for]
        missing = [count for count in open_counts if count not in here.booking]
        return next(iter(missing or open_counts), slot)
    return slot


def _copy_same(belief: Belief, lexicon: Lexicon, said: Utterance) -> None:
    """'In the same area as the hotel': take over what the other domain has."""
    for slot, source in said.same:
        target = belief.active
        if target is None or not lexicon.takes(target, slot):
            continue
        others = [source] if source in belief.domains else list(belief.domains)
        for name in others:
            other = belief.domains[name]
            value = other.wanted.get(slot) or other.booking.get(slot)
            if value is None and other.row is not None and isinstance(other.row.get(slot), str):
                value = str(other.row[slot])
            if name != target and value is not None:
                here = belief.domains[target]
                if slot in lexicon.searches.get(target, ()):
                    here.want(slot, value)
                else:
                    here.booking[slot] = value
                break


def _take_answers(belief: Belief, here: DomainBelief, said: Utterance) -> None:
    """What a 'yes', a 'no' or 'I do not mind' means after the agent's question."""
    open_slots = {slot for slot in belief.asked if not here.is_answered(slot)}
    unnamed = belief.asked & set(words.AMENITIES) & open_slots
    names_type = belief.active == "hotel" and "hotel" in said.topics and said.num_tokens <= 6
    if names_type and "type" in open_slots:
        here.want("type", "hotel")
    if said.affirms and unnamed and not said.mentions and open_slots <= set(words.AMENITIES):
        for slot in sorted(unnamed):
            here.want(slot, "yes")
    for slot in said.indifferent:
        here.wanted.pop(slot, None)
        here.indifferent.add(slot)
    if said.all_indifferent or said.denies:
        here.indifferent |= {slot for slot in open_slots if slot not in here.wanted}


def _take_booking_intent(
    belief: Belief, here: DomainBelief, before: DomainBelief, said: Utterance
) -> None:
    """Whether the customer wants to book; a refusal is about what was discussed before."""
    asked_to_book = BOOK in belief.asked
    if said.declines_booking or (said.denies and asked_to_book and not said.books):
        before.wants_booking, before.declined_booking = False, True
    elif said.books or (said.affirms and asked_to_book) or here.booking:
        here.wants_booking, here.declined_booking = True, False
