"""The course of a conversation: who does what with what was open, and what that is worth."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np

from drl.domains.candor.synthetic.acts import BROUGHT_WORTHS, WORTHS, Move, Opening, Worth
from drl.domains.candor.synthetic.people import Meeting
from drl.domains.candor.synthetic.settings import Settings
from drl.domains.candor.synthetic.vocabulary import patterns, topics

_BROUGHT: Final = {
    Opening.GOOD_NEWS: 0.22,
    Opening.BAD_NEWS: 0.22,
    Opening.QUESTION: 0.18,
    Opening.WANTS_ADVICE: 0.14,
    Opening.OPINION: 0.12,
    Opening.STORY: 0.12,
}
"""How often each is brought up. News are where the same words differ most in worth."""

_USUAL: Final = {
    Move.REPEAT: 0.2,
    Move.NOD: 0.6,
    Move.DISAGREE: 0.6,
    Move.SWERVE: 1.4,
}
"""How often people make a move apart from its worth, where not 1."""

_BRINGS_MORE: Final = 0.2
"""How often a reply brings up something of its own: rarely, so that replies stand apart."""

_ASKS_IN_SWERVE: Final = 0.6


class Matter(NamedTuple):
    """What is talked about: a pastime by its number, or a piece of news by kind and number."""

    kind: Opening
    number: int


@dataclass(frozen=True, slots=True)
class PlannedTurn:
    """One turn before it is put into words."""

    speaker: int
    met: Opening
    """What the other person had left open."""
    move: Move
    worth: Worth
    about: Matter | None
    """What the move is about; None where it brings up something without any."""
    asks: bool = False
    """For a swerve: whether it asks or tells."""
    brings: Matter | None = None
    """What the turn brings up after its move, which is then what it leaves open."""
    repeats: int | None = None
    """The turn whose matter is said once more."""
    leaves: Opening = Opening.NOTHING


@dataclass
class _Course:
    random: np.random.Generator
    held_out: bool
    tact: tuple[float, float]
    turns: list[PlannedTurn] = field(default_factory=list)
    unused: dict[Opening, list[int]] = field(default_factory=dict)

    def matter(self, kind: Opening) -> Matter:
        """Something that has not come up before, as long as there is any."""
        if not self.unused.get(kind):
            is_news = kind in (Opening.GOOD_NEWS, Opening.BAD_NEWS)
            known = patterns(self.held_out)[kind] if is_news else topics()
            self.unused[kind] = [int(each) for each in self.random.permutation(len(known))]
        return Matter(kind, self.unused[kind].pop())

    def bring(self) -> Matter:
        """Something to bring up."""
        kinds = list(_BROUGHT)
        chances = np.array(list(_BROUGHT.values()))
        return self.matter(kinds[int(self.random.choice(len(kinds), p=chances))])

    def move(self, speaker: int, met: Opening) -> Move:
        """What the speaker does, by tact and habit."""
        worths = WORTHS[met]
        moves = [each for each in worths if each is not Move.REPEAT or self.own(speaker)]
        usual = np.array([_USUAL.get(each, 1.0) for each in moves])
        value = np.array([worths[each].reward for each in moves])
        chances = usual * np.exp(self.tact[speaker] * value)
        return moves[int(self.random.choice(len(moves), p=chances / chances.sum()))]

    def own(self, speaker: int) -> list[int]:
        """The turns in which somebody brought up something, the last one excepted."""
        turns = enumerate(self.turns)
        return [place for place, turn in turns if turn.speaker == speaker and turn.brings][:-1]


def plan(
    meeting: Meeting, num_turns: int, settings: Settings, random: np.random.Generator
) -> list[PlannedTurn]:
    """A course of so many turns by the two people in turn."""
    first, second = meeting.people
    change = random.normal(0, settings.tact_change, 2)
    tact = (first.tact + float(change[0]), second.tact + float(change[1]))
    course = _Course(random, meeting.held_out, tact)
    opener = course.bring()
    worth = WORTHS[Opening.NOTHING][Move.GO_ON].plus(BROUGHT_WORTHS[opener.kind])
    course.turns.append(
        PlannedTurn(0, Opening.NOTHING, Move.GO_ON, worth, None, brings=opener, leaves=opener.kind)
    )
    while len(course.turns) < num_turns:
        course.turns.append(_next(course))
    return course.turns


def _next(course: _Course) -> PlannedTurn:
    before = course.turns[-1]
    speaker = 1 - before.speaker
    met = before.leaves
    move = course.move(speaker, met)
    worth = WORTHS[met][move]
    if move is Move.GO_ON:
        brought = course.bring()
        worth = worth.plus(BROUGHT_WORTHS[brought.kind])
        return PlannedTurn(speaker, met, move, worth, None, brings=brought, leaves=brought.kind)
    if move is Move.REPEAT:
        place = int(course.random.choice(course.own(speaker)))
        again = course.turns[place].brings
        assert again is not None
        return PlannedTurn(
            speaker, met, move, worth, again, brings=again, repeats=place, leaves=again.kind
        )
    asks = move is Move.ASK_ON
    about = before.brings or before.about
    if move is Move.SWERVE:
        asks = bool(course.random.random() < _ASKS_IN_SWERVE)
        about = course.matter(Opening.QUESTION)
    if asks:
        return PlannedTurn(speaker, met, move, worth, about, asks=True, leaves=Opening.QUESTION)
    brings = course.bring() if course.random.random() < _BRINGS_MORE else None
    leaves = brings.kind if brings else Opening.NOTHING
    if brings:
        worth = worth.plus(BROUGHT_WORTHS[brings.kind])
    return PlannedTurn(speaker, met, move, worth, about, brings=brings, leaves=leaves)
