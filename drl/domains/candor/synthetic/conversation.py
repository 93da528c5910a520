"""One generated conversation: planned, put into words, timed, and met with faces and scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from drl.domains.candor.synthetic import timing
from drl.domains.candor.synthetic.acts import Move
from drl.domains.candor.synthetic.faces import Heard
from drl.domains.candor.synthetic.people import Meeting, Person
from drl.domains.candor.synthetic.plan import PlannedTurn, plan
from drl.domains.candor.synthetic.settings import Length, Settings, Signal
from drl.domains.candor.synthetic.wording import Speech

_PLAYFUL: Final = (Move.JOKE, Move.CHEER)
_WARMTH_IN_FACES: Final = 0.5
"""Logits of a smile for each point of warmth."""


@dataclass(frozen=True, slots=True, eq=False)
class Conversation:
    """What is written down of one conversation.

    `rewards` float [T] are the hidden ones; `scored` those that the survey follows, which are the
    same unless the signal is cut; `people` carry the warmth of this conversation in their faces.
    """

    meeting: Meeting
    people: tuple[Person, Person]
    plan: Sequence[PlannedTurn]
    utterances: Sequence[str]
    heard: Heard
    rewards: NDArray[np.float64]
    scored: NDArray[np.float64]
    warmth: float


def hold(meeting: Meeting, settings: Settings, random: np.random.Generator) -> Conversation:
    """The conversation of two people."""
    num_turns = _num_turns(settings.length, random)
    main = plan(meeting, num_turns, settings, random)
    # drawn in any case, so that sets with and without a signal differ in nothing else
    others = [_of_strangers(meeting, num_turns, settings, random) for _ in range(3)]
    everything_cut = settings.signal is Signal.NONE
    in_words, in_faces, in_scores = (
        other if everything_cut or settings.signal is cut else main
        for other, cut in zip(
            others, (Signal.NO_TEXT, Signal.NO_FACES, Signal.NO_SCORES), strict=True
        )
    )
    utterances = Speech(meeting.held_out, settings.length, random).utterances(in_words)
    paces = [meeting.people[turn.speaker].pace for turn in in_words]
    heard = Heard(
        speakers=np.array([turn.speaker for turn in in_words]),
        spans=timing.spans(utterances, paces, random),
        visible=np.array([turn.worth.visible for turn in in_faces]),
        is_playful=np.array([turn.move in _PLAYFUL for turn in in_faces]),
    )
    warmth = float(random.normal(0, settings.warmth_spread))
    more = _WARMTH_IN_FACES * warmth
    first, second = (replace(each, smile=each.smile + more) for each in meeting.people)
    return Conversation(
        meeting=meeting,
        people=(first, second),
        plan=main,
        utterances=utterances,
        heard=heard,
        rewards=_rewards(main),
        scored=_rewards(in_scores),
        warmth=warmth,
    )


def _of_strangers(
    meeting: Meeting, num_turns: int, settings: Settings, random: np.random.Generator
) -> list[PlannedTurn]:
    """A conversation that never took place, by people of a tact of their own."""
    drawn = random.normal(settings.tact_mean, settings.tact_spread, 2)
    first, second = (
        replace(person, tact=float(tact))
        for person, tact in zip(meeting.people, drawn, strict=True)
    )
    return plan(replace(meeting, people=(first, second)), num_turns, settings, random)


def _num_turns(length: Length, random: np.random.Generator) -> int:
    if length is Length.SHORT:
        return int(random.integers(24, 41))
    return int(np.clip(round(random.normal(159, 30)), 70, 250))  # CANDOR's mean


def _rewards(turns: Sequence[PlannedTurn]) -> NDArray[np.float64]:
    return np.round([turn.worth.reward for turn in turns], 3)
