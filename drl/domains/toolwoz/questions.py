"""What a text asks for: 'which area would you like?' -> area.

Both sides read the agent's questions with it, the customer to answer them and the agent to know
what a bare "no" or "three" is about.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from drl.domains.toolwoz import vocabulary as words
from drl.domains.toolwoz.comprehension import PhraseIndex, by_form

BOOK: Final = "book"
"""Asks whether to book."""
MORE: Final = "more"
"""Asks whether there is anything else."""

SENTENCE_ENDS: Final = frozenset(".!?;")

_BOOK: Final = (
    *("book", "book it", "reserve", "make a booking", "make a reservation", "booking for you"),
    *("make the booking", "reserve it", "go ahead and book", "like to book", "booked"),
    *("reservation", "place a booking"),
)
_MORE: Final = (
    *("anything else", "something else i can", "what else can", "help you with anything"),
    *("further assistance", "any other", "else i can do", "else can i do", "how can i help"),
    *("how may i help", "what can i do for you", "what else do you need", "is that everything"),
)
_ASKS: Final = (
    *("please tell me", "could you tell", "can you tell", "let me know", "please give me"),
    *("i need to know", "i will need", "please provide", "may i ask", "i still need", "i need"),
    *("tell me",),
)
_BOOKING_SLOTS: Final = frozenset({BOOK, "people", "stay", "day", "time"})


@lru_cache(maxsize=1 << 14)
def asked(text: tuple[str, ...]) -> frozenset[str]:
    """The slots that the questions in a text (as tokens) ask for, with BOOK and MORE."""
    found: set[str] = set()
    for start, end in sentences(text):
        sentence = text[start:end]
        question = end < len(text) and text[end] == "?"
        if question or _index_of_asks().find(sentence):
            slots = {slot for _, _, slot in _index().find(sentence)}
            # "It has free parking, shall I book it?" asks about the booking alone.
            if BOOK in slots and question:
                slots &= _BOOKING_SLOTS
            found |= slots
    return frozenset(found)


def slot_words(text: Sequence[str]) -> list[tuple[int, int, str]]:
    """(start, end, slot) of the words that name a slot without a value."""
    return _slot_index().find(text)


def sentences(text: Sequence[str]) -> list[tuple[int, int]]:
    """Start and end of each sentence; the token at the end, if any, is its mark."""
    found: list[tuple[int, int]] = []
    start = 0
    for position, token in enumerate(text):
        if token in SENTENCE_ENDS:
            if position > start:
                found.append((start, position))
            start = position + 1
    if start < len(text):
        found.append((start, len(text)))
    return found


@lru_cache(maxsize=1)
def _index() -> PhraseIndex[str]:
    entries = list(by_form(words.SLOT_WORDS))
    entries += [(phrase, BOOK) for phrase in _BOOK]
    entries += [(phrase, MORE) for phrase in _MORE]
    return PhraseIndex(entries)


@lru_cache(maxsize=1)
def _slot_index() -> PhraseIndex[str]:
    return PhraseIndex(by_form(words.SLOT_WORDS))


@lru_cache(maxsize=1)
def _index_of_asks() -> PhraseIndex[str]:
    return PhraseIndex((phrase, "") for phrase in _ASKS)
