"""The mistakes that weak models make, drawn at random in place of the careful decision.

Each probability is per decision at temperature 1 and grows in proportion to the temperature.
They were set by hand until single dialogues fail about as often as those of small models do.
"""

from random import Random
from string import ascii_uppercase, digits
from typing import Final

from drl.agent._belief import Belief, DomainBelief
from drl.agent._decide import Ask, Book, Claim, Decision, Recommend, Search, Stall
from drl.agent._lexicon import Lexicon

_SEARCH_EARLY: Final = 0.3
_RECOMMEND: Final = 0.22
_FORGET: Final = 0.12
_MISTAKE: Final = 0.08
_STALL: Final = 0.08
_MAKE_UP_DETAILS: Final = 0.15
_CLAIM: Final = 0.38
_WRONG_DETAIL: Final = 0.12

_MADE_UP: Final = {
    "people": tuple("12345678"),
    "stay": tuple("12345"),
    "stars": tuple("01234"),
    "time": ("12:00", "13:30", "17:45", "19:00"),
    "leaveAt": ("07:00", "09:45", "12:15", "17:30"),
    "arriveBy": ("08:30", "11:00", "16:15", "20:45"),
    "day": ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
}


def slip(
    decision: Decision, belief: Belief, lexicon: Lexicon, *, temperature: float, seed: int
) -> Decision:
    """The decision, or a mistake in its place; at temperature 0 always the decision."""
    here = belief.current
    if temperature == 0 or here is None:
        return decision
    draw = Random(seed)
    if isinstance(decision, Ask):
        return _slip_asking(decision, here, lexicon, draw, temperature)
    if isinstance(decision, Search):
        return _slip_searching(decision, lexicon, draw, temperature)
    if isinstance(decision, Book):
        return _slip_booking(decision, lexicon, draw, temperature)
    return decision


def _slip_asking(
    decision: Ask, here: DomainBelief, lexicon: Lexicon, draw: Random, temperature: float
) -> Decision:
    if decision.booking:
        if draw.random() < _MAKE_UP_DETAILS * temperature:
            made_up = {
                slot: _made_up(lexicon, decision.domain, slot, draw) for slot in decision.slots
            }
            row = here.row or {}
            keys = {key: str(row[key]) for key in ("name", "trainID") if key in row}
            return Book(decision.domain, {**here.booking, **made_up, **keys})
    elif here.wanted and draw.random() < _SEARCH_EARLY * temperature:
        return Search(decision.domain, dict(here.wanted))
    return decision


def _slip_searching(
    decision: Search, lexicon: Lexicon, draw: Random, temperature: float
) -> Decision:
    chance = draw.random() / temperature
    wanted = dict(decision.arguments)
    if chance < _RECOMMEND:
        return Recommend(decision.domain, _entity(lexicon, decision, draw))
    chance -= _RECOMMEND
    if chance < _FORGET:
        if len(wanted) > 1:
            del wanted[draw.choice(list(wanted))]
        return Search(decision.domain, wanted)
    chance -= _FORGET
    if chance < _MISTAKE:
        slot = draw.choice(lexicon.searches[decision.domain])
        wanted[slot] = _made_up(lexicon, decision.domain, slot, draw)
        return Search(decision.domain, wanted)
    chance -= _MISTAKE
    return Stall() if chance < _STALL else decision


def _slip_booking(decision: Book, lexicon: Lexicon, draw: Random, temperature: float) -> Decision:
    chance = draw.random() / temperature
    if chance < _CLAIM:
        reference = "".join(draw.choices(ascii_uppercase + digits, k=8))
        return Claim(decision.domain, decision.arguments, reference)
    chance -= _CLAIM
    if chance < _WRONG_DETAIL:
        slot = draw.choice(list(decision.arguments))
        value = _made_up(lexicon, decision.domain, slot, draw)
        return Book(decision.domain, {**decision.arguments, slot: value})
    return decision


def _entity(lexicon: Lexicon, decision: Search, draw: Random) -> str:
    """The entity that the customer named, or any."""
    if "name" in decision.arguments:
        return decision.arguments["name"]
    return _made_up(lexicon, decision.domain, "name", draw)


def _made_up(lexicon: Lexicon, domain: str, slot: str, draw: Random) -> str:
    known = lexicon.values.get((domain, slot)) or _MADE_UP.get(slot)
    return draw.choice(known) if known else f"TR{draw.randrange(10_000):04d}"
