"""What a customer's utterance says, read on its own: values, domains, questions, intentions."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from drl.agent._lexicon import Lexicon
from drl.agent._place import place
from drl.domains.toolwoz import vocabulary as words
from drl.domains.toolwoz.comprehension import STOPS, Mention, PhraseIndex, by_form, tokens
from drl.domains.toolwoz.questions import sentences, slot_words
from drl.domains.toolwoz.vocabulary import word_set

MAX_CHARACTERS: Final = 4000
"""Nobody speaks longer; what lies beyond is not read, so that a turn costs what a turn may."""

FACTS: Final = frozenset(
    {"phone", "address", "postcode", "entrance fee", "duration", "trainID", "price", "reference"}
)
"""Slots that only an answer can fill, so that naming one asks for it."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """One utterance of the customer without its context.

    `mentions` carry the domain that the words around them give, if any; `topics` are the domains
    named, in order, and `topic` is the one that the utterance ends on. `requests` are slots
    asked for; `indifferent` are slots called unimportant, and `all_indifferent` says so of
    whatever was asked. `same` pairs a slot with the domain to copy it from ("the same day as the
    hotel"; None: whichever has one).
    """

    mentions: tuple[Mention, ...]
    topics: tuple[str, ...]
    topic: str | None
    requests: frozenset[str]
    indifferent: frozenset[str]
    all_indifferent: bool
    same: tuple[tuple[str, str | None], ...]
    books: bool
    declines_booking: bool
    affirms: bool
    denies: bool
    done: bool
    num_tokens: int


@lru_cache(maxsize=1 << 14)
def understand(lexicon: Lexicon, text: str) -> Utterance:
    """The reading of an utterance."""
    spoken = tokens(text[:MAX_CHARACTERS])
    indifferent, everything, quiet = _indifference(spoken)
    requests, questioned = _requests(spoken)
    same, compared = _comparisons(spoken)
    mentions = tuple(
        mention
        for mention in lexicon.read(spoken)
        if mention.start not in quiet and mention.start not in questioned
    )
    mentions += _unknown_cuisine(spoken, mentions)
    named = {i for m in mentions if m.slot == "name" for i in range(m.start, m.end)}
    cues = [
        (start, end, domain)
        for start, end, domain in _domain_index().find(spoken)
        if start not in named and start not in compared
    ]
    mentions, topic = place(spoken, mentions, cues)
    books, declines = _booking(spoken, compared)
    return Utterance(
        mentions=mentions,
        topics=tuple(dict.fromkeys(domain for _, _, domain in cues)),
        topic=topic,
        requests=requests - indifferent,
        indifferent=indifferent,
        all_indifferent=everything,
        same=same,
        books=books,
        declines_booking=declines,
        affirms=bool(_AFFIRM.find(spoken)),
        denies=bool(spoken) and spoken[0] in ("no", "nope", "neither", "none", "nothing"),
        done=bool(_DONE.find(spoken)),
        num_tokens=len(spoken),
    )


def _phrases(text: str) -> PhraseIndex[str]:
    return PhraseIndex((phrase.strip(), "") for phrase in text.split(","))


_AFFIRM: Final = _phrases(
    "yes, yeah, yep, sure, ok, okay, please do, sounds good, sounds great, that works, perfect, "
    "go ahead, that would be great, great, that will do, thatll do, fine"
)
_DONE: Final = _phrases(
    "thats all, that is all, thats everything, that is everything, nothing else, goodbye, bye, "
    "no thanks, no thank you, all i need, all i needed, that will be all, thatll be all, "
    "all set, end conversation, have a nice day, have a good day, thats it, that is it"
)
_INDIFFERENT: Final = _phrases(
    "dont care, dont mind, doesnt matter, does not matter, do not care, do not mind, "
    "no preference, no preferences, any is fine, anything is fine, either is fine, "
    "whatever, up to you, not fussy, not picky, not bothered, open to any, open to anything, "
    "flexible, no particular, "
    "any area, any price, any price range, any type, any food, any cuisine, any part of town, "
    "any kind, any will do, makes no difference, dont have a preference, not important, "
    "dont really care, dont really mind, surprise me, isnt important, all the same to me, "
    "anywhere, any location, any star rating, not particular, no matter, either way, "
    "anything goes, any time, any of them, doesnt really matter, all one to me, "
    "no strong feelings, you choose, you decide, not worried, unimportant, "
    "no real preference, either would be fine, any would be fine, not too worried, easy about"
)
_BOOKING: Final = _phrases(
    "book, booking, bookings, booked, reserve, reservation, reserved, tickets for, get tickets, "
    "buy tickets, table for, ticket for, get a table, reservations"
)
_ASKING: Final = _phrases(
    "what, whats, which, how, could you, can you, can i, could i, may i, tell me, give me, "
    "let me know, i need the, i need to know, would like the, also the, get the, "
    "send me, does it, does the, do they, is there, is it, are there, want to know, whether, "
    "where is, has it got, wheres, like to know, check if, confirm, i need its, get its, "
    "looking for the, have the, share the, know the, know if, know its, hear the, hear its, "
    "i also need the, note down, jot down, have its, remind me"
)
_WHETHER: Final = _phrases(
    "does it, do they, is there, whether, does the, has it got, if they have, if it has, "
    "have got, if there is, is it, do you know if, does that, will there be, are there"
)
_SAME: Final = _phrases("same")


@lru_cache(maxsize=1)
def _domain_index() -> PhraseIndex[str]:
    return PhraseIndex(by_form(words.DOMAIN_WORDS))


def _indifference(spoken: tuple[str, ...]) -> tuple[frozenset[str], bool, frozenset[int]]:
    """Slots called unimportant, whether all that was asked is, and the positions that say so."""
    found = _INDIFFERENT.find(spoken)
    if not found:
        return frozenset(), False, frozenset()
    slots: set[str] = set()
    quiet: set[int] = set()
    everything = False
    for start, end, _ in found:
        first, last = _region(spoken, start, end)
        named = {slot for _, _, slot in slot_words(spoken[first:last])}
        named = {"pricerange" if slot == "price" else slot for slot in named} - FACTS
        quiet.update(range(first, last))
        slots |= named
        everything |= not named
    return frozenset(slots), everything, frozenset(quiet)


def _region(spoken: tuple[str, ...], start: int, end: int) -> tuple[int, int]:
    """What a phrase is about: its clause, with the list that it ends or begins.

    "I do not mind about the area, the price and the type" / "As for the area, it is all the same".
    """
    first, last = _clause(spoken, start, end)
    while spoken[last : last + 2] in ((",", "the"), (",", "and"), (",", "or")):
        last = _clause(spoken, last + 1, last + 1)[1]
    opening = first
    while opening > 1 and spoken[opening - 1] == ",":
        opening = _clause(spoken, opening - 2, opening - 2)[0]
    return (opening if spoken[opening : opening + 2] == ("as", "for") else first), last


def _clause(spoken: tuple[str, ...], start: int, end: int) -> tuple[int, int]:
    """The clause around some tokens: up to a mark, or a 'but'."""
    breaks = (*STOPS, "but")
    while start > 0 and spoken[start - 1] not in breaks:
        start -= 1
    while end < len(spoken) and spoken[end] not in breaks:
        end += 1
    return start, end


def _requests(spoken: tuple[str, ...]) -> tuple[frozenset[str], frozenset[int]]:
    """Slots asked for, and the positions of amenities that are asked about, not wished for."""
    slots: set[str] = set()
    questioned: set[int] = set()
    for first, last in sentences(spoken):
        sentence = spoken[first:last]
        named = slot_words(sentence)
        if not named:
            continue
        asks = bool(_ASKING.find(sentence)) or (last < len(spoken) and spoken[last] == "?")
        whether = [end for _, end, _ in _WHETHER.find(sentence)]
        for start, end, slot in named:
            if slot in words.AMENITIES:
                if any(_is_direct(sentence[since:start]) for since in whether if since <= start):
                    slots.add(slot)
                    questioned.update(range(first + start, first + end))
            elif slot in FACTS or (asks and slot not in ("people", "stay", "name")):
                slots.add(slot)
    return frozenset(slots), frozenset(questioned)


def _is_direct(between: tuple[str, ...]) -> bool:
    """Whether 'is there' asks about what follows, and not for 'one that has' it."""
    return not {"one", "that", "with", "a", "any"} & set(between) or between == ("any",)


def _comparisons(
    spoken: tuple[str, ...],
) -> tuple[tuple[tuple[str, str | None], ...], frozenset[int]]:
    """Slots to copy, from which domain, and the positions of the words that compare."""
    same: list[tuple[str, str | None]] = []
    compared: set[int] = set()
    for start, _, _ in _SAME.find(spoken):
        window = spoken[start + 1 : start + 10]
        domains = [(at, end, domain) for at, end, domain in _domain_index().find(window)]
        as_at = window.index("as") if "as" in window else len(window)
        domain = next((d for at, _, d in domains if at > as_at), None)
        head = window[:as_at] if domain else window[:3]
        slots = [slot for _, _, slot in slot_words(head)]
        slots += ["people"] if {"group", "people", "party"} & set(head) else []
        slots += ["pricerange"] if "price" in head else []
        same += [(slot, domain) for slot in dict.fromkeys(slots)]
        if domain is not None:
            compared.update(range(start, start + 1 + len(window)))
        else:
            compared.add(start)
    return tuple(same), frozenset(compared)


def _booking(spoken: tuple[str, ...], compared: frozenset[int]) -> tuple[bool, bool]:
    """Whether the customer wants to book, and whether they say that they do not."""
    books = declines = False
    for start, end, _ in _BOOKING.find(spoken):
        after = spoken[end : end + 1]
        if start in compared or after in (("reference",), ("number",)):
            continue
        if {"dont", "not", "no", "without", "never"} & set(spoken[max(0, start - 5) : start]):
            declines = True
        else:
            books = True
    return books, declines and not books


def _unknown_cuisine(spoken: tuple[str, ...], mentions: tuple[Mention, ...]) -> tuple[Mention, ...]:
    """A cuisine that neither the vocabulary nor the database knows: 'serving klingon food'."""
    if any(mention.slot == "food" for mention in mentions):
        return ()
    for position, token in enumerate(spoken[:-2]):
        if token not in ("serves", "serving", "serve"):
            continue
        for length in (2, 1):
            end = position + 1 + length
            if spoken[end : end + 1] in (("food",), ("cuisine",), ("dishes",)):
                value = spoken[position + 1 : end]
                if not {*value} & _NO_CUISINE:
                    return (Mention("food", " ".join(value), position + 1, end, "restaurant"),)
    return ()


_NO_CUISINE: Final = word_set(
    "the any a some good great that this what which kind of type different other no their"
)
