"""Puts a customer's acts into words."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from random import Random
from typing import Final, Literal

from drl.domains.toolwoz.spelling import cuisine, listed, title
from drl.user_simulator._acts import Act, Does
from drl.user_simulator._phrases import HELDOUT, TRAIN, Bank, Ways
from drl.user_simulator.base import END_OF_CONVERSATION

Phrasing = Literal["train", "heldout", "all"]

BANKS: Final[Mapping[str, tuple[Bank, ...]]] = {
    "train": (TRAIN,),
    "heldout": (HELDOUT,),
    "all": (TRAIN, HELDOUT),
}
_THIRD_PERSON: Final = {"be": "is", "have": "has", "go": "goes", "do": "does"}
_CAPITALISED: Final = frozenset({"name", "departure", "destination", "day"})
_PLURALS: Final = ("persons", "nights", "guests", "stars")
_DETAIL_ORDER: Final = ("people", "stay", "time", "day")
_ASKING: Final = frozenset({Does.ANY, Does.REQUEST, Does.INSIST})
_BOOKING: Final = frozenset({Does.BOOK, Does.DETAIL, Does.REBOOK, Does.RETRY})


def speak(acts: Sequence[Act], phrasing: Phrasing, draw: Random) -> str:
    """What the customer says; `draw` chooses among the ways to say it."""
    bank = draw.choice(BANKS[phrasing])
    said: list[str] = []
    for group, members in groupby(acts, key=_kind):
        together = list(members)
        if group is Does.OPEN:
            named = any(act.does is Does.INFORM and act.slot == "name" for act in acts)
            if not named:
                said.append(_opening(bank, together[0].domain, first=not said, draw=draw))
        elif group is Does.BOOK:
            said.append(_booking(bank, together, draw))
        elif group in _ASKING:
            nouns = listed(
                [draw.choice(bank.nouns.get(act.slot, (f"the {act.slot}",))) for act in together]
            )
            text = draw.choice(bank.sentences[group]).format(nouns=nouns)
            said.append(text[:1].upper() + text[1:])
        elif together[0].slot:
            said += _describing(bank, together, acts, draw)
        else:
            said.append(draw.choice(bank.sentences[group]))
        if group is Does.BYE:
            said.append(END_OF_CONVERSATION)
    return " ".join(said)


def _kind(act: Act) -> Does:
    """Acts of one kind share a sentence; a booking takes its details along."""
    return Does.BOOK if act.does in _BOOKING else act.does


def _opening(bank: Bank, domain: str, *, first: bool, draw: Random) -> str:
    text = draw.choice(bank.opening[domain])
    return text if first else _continued(draw.choice(bank.going_on), text)


def _continued(lead: str, text: str) -> str:
    """'Also,' and 'Where could I' as one sentence."""
    return f"{lead} {text if text.startswith('I ') else text[:1].lower() + text[1:]}"


def _describing(
    bank: Bank, acts: Sequence[Act], all_acts: Sequence[Act], draw: Random
) -> list[str]:
    """Sentences about what it should be like, or be called."""
    does = acts[0].does
    said: list[str] = []
    described = [act for act in acts if act.slot != "name"]
    for act in acts:
        if act.slot == "name":
            ways = bank.naming_again
            if does in (Does.CHANGE, Does.RECONSIDER):
                ways = bank.naming_another
            elif does is Does.RESTATE:
                ways = bank.naming_once_more
            elif any(other.does is Does.OPEN for other in all_acts):
                ways = bank.naming[act.domain]
            text = draw.choice(ways).format(value=title(act.value))
            opens_next = ways is not bank.naming_again and len(all_acts) > len(acts) + 1
            said.append(
                _continued(draw.choice(bank.going_on), text)
                if opens_next and does is Does.INFORM
                else text
            )
    if described:
        traits = [_trait(bank, act, draw) for act in described]
        template = draw.choice(bank.sentences[does])
        said.append(
            template.format_map(
                {"needs": listed(traits), "is": listed([*map(_third_person, traits)])}
            )
        )
    return said


def _trait(bank: Bank, act: Act, draw: Random) -> str:
    fixed = bank.yes_no.get((act.slot, act.value))
    ways: Ways = fixed or bank.traits.get(act.slot, ("be {value}",))
    return _filled(draw.choice(ways), act)


def _booking(bank: Bank, acts: Sequence[Act], draw: Random) -> str:
    ordered = sorted(
        (act for act in acts if act.slot),
        key=lambda act: _DETAIL_ORDER.index(act.slot) if act.slot in _DETAIL_ORDER else 9,
    )
    details = "".join(
        _filled(draw.choice(bank.details[_detail(act)]), act)
        for act in ordered
        if _detail(act) in bank.details
    )
    return draw.choice(bank.sentences[acts[0].does]).format(details=details)


def _detail(act: Act) -> str:
    """Which phrases fit: the day of a hotel booking is when the stay begins."""
    return "arrival" if (act.domain, act.slot) == ("hotel", "day") else act.slot


def _filled(template: str, act: Act) -> str:
    value = title(act.value) if act.slot in _CAPITALISED else act.value
    value = cuisine(value) if act.slot == "food" else value
    text = template.format(value=value)
    if act.value == "1":
        text = text.replace("people", "person")
        for plural in _PLURALS:
            text = text.replace(plural, plural[:-1])
    return text


def _third_person(phrase: str) -> str:
    verb, _, rest = phrase.partition(" ")
    if verb == "not":
        return f"does not {rest}"
    return f"{_THIRD_PERSON.get(verb, f'{verb}s')} {rest}"
