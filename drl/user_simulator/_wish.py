"""How a customer pursues one wish: says what it should be, checks what is offered, books it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from drl.types import Wish
from drl.user_simulator._acts import Act, Does
from drl.user_simulator._hearing import Heard

_ANY: Final = frozenset({"dontcare", "dont care", "don't care", "do n't care"})
_SEARCH_SLOTS: Final[Mapping[str, tuple[str, ...]]] = {
    "hotel": ("area", "pricerange", "type", "stars", "internet", "parking"),
    "restaurant": ("food", "area", "pricerange"),
    "attraction": ("type", "area"),
    "train": ("departure", "destination", "day", "leaveAt", "arriveBy"),
}
_BOOKING_SLOTS: Final = ("people", "day", "stay", "time")
_AT_ONCE: Final = 2
"""Wishes that a customer states in one breath."""
_CORRECTIONS: Final = 2
"""How often one detail is put right before the customer lets it pass."""
_INSISTENCE: Final = 2
"""How often a detail or a reference number is asked for."""


@dataclass(slots=True)
class Pursuit:
    """One wish and how far it has come.

    `constraints` and `booking` are what counts now: the first ones as long as `first` and
    `first_booking` say so. `said` is what the agent was told, `told` what the agent told.
    """

    wish: Wish
    firm: bool
    constraints: dict[str, str]
    booking: dict[str, str]
    first: bool
    first_booking: bool
    said: dict[str, str] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)
    count: dict[str, int] = field(default_factory=dict)
    accepted: bool = False
    asked_booking: bool = False
    booked: bool = False
    has_reference: bool = False
    gave_up_booking: bool = False

    @classmethod
    def of(cls, wish: Wish, *, firm: bool) -> "Pursuit":
        """The pursuit of a wish at its beginning."""
        return cls(
            wish=wish,
            firm=firm,
            constraints=_that_matter(wish.first_constraints or wish.constraints),
            booking=dict(wish.first_booking or wish.booking),
            first=bool(wish.first_constraints),
            first_booking=bool(wish.first_booking),
        )

    def open(self, how_many: int) -> list[Act]:
        """Name the domain and the first of the constraints."""
        return [Act(Does.OPEN, self.wish.domain), *self._inform(how_many)]

    def respond(self, heard: Heard) -> list[Act]:
        """What the customer does about a reply; nothing when all of the wish is fulfilled."""
        self._note(heard)
        return (
            self._after_booking(heard)
            or self._after_search(heard)
            or self._to_questions(heard)
            or self._to_offer(heard)
            or self._on_agenda()
        )

    @property
    def is_given_up(self) -> bool:
        """Whether there is nothing of the kind, as the agent has said more than once."""
        return self.count.get("empty", 0) > 1 and not self.first

    def restate(self) -> list[Act]:
        """Say everything again."""
        return self._act(Does.RESTATE, self.constraints)

    def _note(self, heard: Heard) -> None:
        if self.accepted or heard.offers:
            self.told |= heard.facts
            if heard.unknown:
                self.told |= {slot for slot in self.wish.requests if self._times("ask", slot)}

    def _after_booking(self, heard: Heard) -> list[Act]:
        """After the customer asked to book: success, refusal, a wrong detail."""
        if not self.asked_booking or self.gave_up_booking:
            return []
        if heard.refused:
            return self._refused()
        wrong = [
            slot
            for slot in _BOOKING_SLOTS
            if slot in self.booking and self._contradicts(heard, slot, self.booking[slot])
        ]
        if heard.booked and wrong and self._tick("wrong booking") <= 1:
            self.booked = self.has_reference = False
            return self._act(Does.CORRECT, {slot: self.booking[slot] for slot in wrong})
        self.booked |= heard.booked
        self.has_reference |= heard.reference
        if self.booked and not self.has_reference and self._tick("reference") <= _INSISTENCE:
            return [Act(Does.REFERENCE, self.wish.domain)]
        return []

    def _refused(self) -> list[Act]:
        self.booked = self.has_reference = False
        if self.first_booking:
            self.first_booking = False
            changed = _changed(self.booking, self.wish.booking)
            self.booking = dict(self.wish.booking)
            return self._act(Does.REBOOK, changed)
        if self._tick("refused") <= 1:
            return [Act(Does.RETRY, self.wish.domain), *self._act(Does.DETAIL, self.booking)]
        self.gave_up_booking = True
        return []

    def _after_search(self, heard: Heard) -> list[Act]:
        """After the agent found nothing."""
        if not heard.not_found or self.accepted:
            return []
        if self.first:
            return self._turn_to_final(Does.CHANGE)
        if self._tick("empty") <= 1:
            return self.restate()
        return []

    def _to_questions(self, heard: Heard) -> list[Act]:
        """Answer what is asked, as far as it concerns this wish."""
        acts: list[Act] = []
        for slot in self._relevant(heard.asked):
            if slot in self.constraints:
                acts += self._act(Does.INFORM, {slot: self.constraints[slot]})
            elif slot in self.booking:
                self.asked_booking = True
                acts += self._act(Does.DETAIL, {slot: self.booking[slot]})
            elif slot in _SEARCH_SLOTS[self.wish.domain]:
                acts.append(Act(Does.ANY, self.wish.domain, slot))
        if acts and all(act.does is Does.ANY for act in acts):
            acts += self._inform(_AT_ONCE)
        return acts

    def _relevant(self, slots: frozenset[str]) -> list[str]:
        relevant = [slot for slot in _SEARCH_SLOTS[self.wish.domain] if slot in slots]
        if slots & {"leaveAt", "arriveBy", "time"} and self.wish.domain == "train":
            times = [slot for slot in ("leaveAt", "arriveBy") if slot in self.constraints]
            relevant = [s for s in relevant if s not in ("leaveAt", "arriveBy")] + times
        if self.accepted or self.asked_booking:
            relevant = [slot for slot in relevant if slot in self.constraints]
        booking = [slot for slot in _BOOKING_SLOTS if slot in slots and slot in self.booking]
        if self.gave_up_booking or self.booked:
            booking = []
        return list(dict.fromkeys([*relevant, *booking]))

    def _to_offer(self, heard: Heard) -> list[Act]:
        """Check what is offered against the constraints."""
        if not heard.offers or self.asked_booking:
            return []
        wrong = {
            slot: value
            for slot, value in self.constraints.items()
            if self._contradicts(heard, slot, value) and self._times("correct", slot) < _CORRECTIONS
        }
        if wrong:
            self.accepted = False
            self.told.clear()
            for slot in wrong:
                self._tick("correct", slot)
            return self._act(Does.CORRECT, wrong)
        if self._unsaid():
            return self._inform(_AT_ONCE)
        if self.first and not self.firm:
            return self._turn_to_final(Does.RECONSIDER)
        self.accepted = True
        return []

    def _on_agenda(self) -> list[Act]:
        """The next thing that the customer wants of its own accord."""
        if self.is_given_up:
            return []
        if not self.accepted and not self.asked_booking:
            return self._inform(_AT_ONCE) or self.restate()
        if open_requests := self._open_requests():
            again = any(self._times("ask", slot) for slot in open_requests)
            for slot in open_requests:
                self._tick("ask", slot)
            does = Does.INSIST if again else Does.REQUEST
            return [Act(does, self.wish.domain, slot) for slot in open_requests]
        if self.wish.booking and not self.booked and not self.gave_up_booking:
            again = self.asked_booking
            self.asked_booking = True
            details = self._act(Does.DETAIL, self.booking)
            return [Act(Does.RETRY if again else Does.BOOK, self.wish.domain), *details]
        return []

    def _open_requests(self) -> list[str]:
        return [
            slot
            for slot in self.wish.requests
            if slot not in self.told and self._times("ask", slot) < _INSISTENCE
        ]

    def _unsaid(self) -> list[str]:
        return [slot for slot, value in self.constraints.items() if self.said.get(slot) != value]

    def _inform(self, how_many: int) -> list[Act]:
        slots = self._unsaid()[:how_many]
        return self._act(Does.INFORM, {slot: self.constraints[slot] for slot in slots})

    def _turn_to_final(self, does: Does) -> list[Act]:
        self.first = False
        self.told.clear()
        final = _that_matter(self.wish.constraints)
        changed = _changed(self.constraints, final)
        self.constraints = final
        return self._act(does, changed) or self._inform(_AT_ONCE)

    def _act(self, does: Does, values: Mapping[str, str]) -> list[Act]:
        self.said.update(values)
        return [Act(does, self.wish.domain, slot, value) for slot, value in values.items()]

    def _contradicts(self, heard: Heard, slot: str, wanted: str) -> bool:
        """Whether what is stated cannot be what the customer wants."""
        if slot == "name":
            return not heard.says(wanted)
        stated = heard.stated(slot)
        if slot == "leaveAt":
            return any(time < wanted for time in stated)
        if slot == "arriveBy":
            return any(time > wanted for time in stated)
        return bool(stated) and wanted not in stated

    def _tick(self, what: str, slot: str = "") -> int:
        """Count an occasion; returns its number, from 1."""
        self.count[f"{what} {slot}".strip()] = number = self._times(what, slot) + 1
        return number

    def _times(self, what: str, slot: str = "") -> int:
        return self.count.get(f"{what} {slot}".strip(), 0)


def _that_matter(constraints: Mapping[str, str]) -> dict[str, str]:
    return {slot: value for slot, value in constraints.items() if value.lower() not in _ANY}


def _changed(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str]:
    return {slot: value for slot, value in after.items() if before.get(slot) != value}
