"""Who talks with whom: people with habits, conversations with ids, and seats in them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from uuid import UUID

import numpy as np

from drl.domains.candor.split import is_held_out
from drl.domains.candor.synthetic.settings import Settings


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody, with what stays the same over all of their conversations."""

    user_id: str
    tact: float
    strictness: float
    """Points that are missing from every score this person gives."""
    expressiveness: float
    """Factor on what shows in the face; about 1."""
    smile: float
    """What the happy class has in this face at rest, in logits."""
    pitch: float
    pace: float
    """Words a second."""
    age: int
    sex: str


@dataclass(frozen=True, slots=True)
class Meeting:
    """A conversation before it is held."""

    id: str
    held_out: bool
    people: tuple[Person, Person]
    """The one who begins stands first."""


def meetings(settings: Settings) -> list[Meeting]:
    """All conversations of a set; exactly `settings.held_out` of them are held out."""
    random = np.random.default_rng([settings.seed, 0])
    kept = _Circle(settings.conversations - settings.held_out, settings, random)
    held_out = _Circle(settings.held_out, settings, random)
    shared = round(settings.shared_seats * len(held_out.seats))
    for seat in random.permutation(len(held_out.seats))[:shared]:
        held_out.seats[seat] = kept.people[int(random.integers(len(kept.people)))]
    all_meetings = [
        Meeting(_identifier(circle is held_out, settings, random), circle is held_out, pair)
        for circle in (kept, held_out)
        for pair in circle.pairs()
    ]
    return [all_meetings[number] for number in random.permutation(len(all_meetings))]


class _Circle:
    """People who meet one another in so many conversations."""

    def __init__(self, size: int, settings: Settings, random: np.random.Generator) -> None:
        number = max(2, round(2 * size / settings.conversations_per_person))
        self.people = [_person(settings, random) for _ in range(min(number, 2 * size))]
        again = random.integers(len(self.people), size=2 * size - len(self.people))
        self.seats = [*self.people, *(self.people[int(place)] for place in again)]
        self._random = random

    def pairs(self) -> list[tuple[Person, Person]]:
        """The seats two by two, nobody with themselves."""
        order = self._random.permutation(len(self.seats))
        seats = [self.seats[int(place)] for place in order]
        self._relieve(seats)
        for place in range(0, len(seats), 2):
            while seats[place] == seats[place + 1]:
                other = int(self._random.integers(len(seats)))
                other_partner = seats[other ^ 1]
                if seats[place] not in (seats[other], other_partner):
                    seats[place + 1], seats[other] = seats[other], seats[place + 1]
        return list(zip(seats[::2], seats[1::2], strict=True))

    def _relieve(self, seats: list[Person]) -> None:
        """Leave nobody with more than half of the seats, for whom there were not enough others."""
        taken = Counter(person.user_id for person in seats)
        for place, person in enumerate(seats):
            if taken[person.user_id] > len(seats) // 2:
                free = min(self.people, key=lambda other: taken[other.user_id])
                taken.subtract([person.user_id])
                taken.update([free.user_id])
                seats[place] = free


def _person(settings: Settings, random: np.random.Generator) -> Person:
    is_low = bool(random.random() < 0.5)
    return Person(
        user_id=random.bytes(12).hex(),
        tact=float(random.normal(settings.tact_mean, settings.tact_spread)),
        strictness=float(random.normal(0, settings.rater_spread)),
        expressiveness=float(np.clip(random.normal(1, 0.35), 0.3, 2)),
        smile=float(random.normal(0, 0.7)),
        pitch=float(random.normal(120 if is_low else 205, 18)),
        pace=float(np.clip(random.normal(2.3, 0.25), 1.5, 3.2)),
        age=int(np.clip(random.normal(34, 11), 19, 66)),
        sex="male" if is_low else "female",
    )


def _identifier(held_out: bool, settings: Settings, random: np.random.Generator) -> str:
    """A conversation id that the hash puts into the wanted part, so that a split by it agrees."""
    while True:
        name = str(UUID(bytes=random.bytes(16), version=4))
        if is_held_out(name, settings.held_out_share) == held_out:
            return name
