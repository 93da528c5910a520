"""A customer's plan for a whole dialogue: one wish after the other.

It is replayed from the agent's replies alone. What the customer did before follows from them, so
nothing but the dialogue has to be kept.
"""

from collections.abc import Sequence
from typing import Final, Literal
from zlib import crc32

from drl.domains.toolwoz.questions import BOOK
from drl.types import Brief
from drl.user_simulator._acts import Act, Does
from drl.user_simulator._hearing import Heard, hear
from drl.user_simulator._wish import Pursuit

FirstWish = Literal["tentative", "firm"]

_KNOWN: Final = frozenset({"hotel", "restaurant", "attraction", "train"})


class Agenda:
    """What the customer does turn by turn; used once, for one replay."""

    def __init__(self, brief: Brief, *, first_wish: FirstWish, patience: int) -> None:
        firm = first_wish == "firm"
        self._pursuits = [
            Pursuit.of(wish, firm=firm) for wish in brief.wishes if wish.domain in _KNOWN
        ]
        # Some people say much at once and some little: a trait of the brief, not of the seed.
        self._character = crc32(repr(brief.wishes).encode("utf-8", "replace"))
        self._patience = patience
        self._index = 0
        self._stuck = 0
        self._done: set[Act] = set()

    @property
    def has_wishes(self) -> bool:
        """Whether there is anything to ask for."""
        return bool(self._pursuits)

    def acts(self, replies: Sequence[str]) -> list[Act]:
        """The acts of the turn that follows these replies of the agent."""
        acts = self._open()
        self._done.update(acts)
        for reply in replies:
            acts = self._next(hear(reply))
            self._done.update(acts)
        return acts

    def _next(self, heard: Heard) -> list[Act]:
        if self._index >= len(self._pursuits):
            return self._bye()
        here = self._pursuits[self._index]
        acts = here.respond(heard)
        if not acts:
            return self._move_on(here, asked_to_book=BOOK in heard.asked)
        self._stuck = self._stuck + 1 if all(act in self._done for act in acts) else 0
        return acts if self._stuck < self._patience else self._lose_patience(here)

    def _move_on(self, here: Pursuit, *, asked_to_book: bool) -> list[Act]:
        """The wish is fulfilled, or there is no such thing: the next one."""
        self._stuck = 0
        self._index += 1
        does = Does.THANK
        if here.is_given_up or here.gave_up_booking:
            does = Does.NEVER_MIND
        elif asked_to_book and not here.booked:
            does = Does.NO_BOOKING
        return [Act(does, here.wish.domain), *self._open()]

    def _lose_patience(self, here: Pursuit) -> list[Act]:
        """Hang up on an agent that never got anywhere; leave one wish if it did before."""
        if here.accepted or here.booked:
            return self._move_on(here, asked_to_book=False)
        self._index = len(self._pursuits)
        return [Act(Does.NEVER_MIND, here.wish.domain), *self._bye()]

    def _open(self) -> list[Act]:
        if self._index >= len(self._pursuits):
            return self._bye()
        how_many = 1 + (self._character >> self._index) % 2
        return self._pursuits[self._index].open(how_many)

    def _bye(self) -> list[Act]:
        return [Act(Does.BYE, "")]
