"""What the listener shows while the other one talks: eight face probabilities a second, and gaze.

The visible part of a hidden reward is in them, amid what hides it: smiles out of manners, moods,
faces that show little or that smile at rest, and seconds in which no face is found.

Axes: S seconds, T turns, C classes of faces.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from drl.domains.candor.signals import FACES
from drl.domains.candor.synthetic.people import Person
from drl.domains.candor.synthetic.settings import Settings

_HAPPY: Final = FACES.index("happiness")
_NEUTRAL: Final = FACES.index("neutral")
_SURPRISE: Final = FACES.index("surprise")
_NEGATIVE: Final = [FACES.index(name) for name in ("anger", "contempt", "disgust", "sadness")]
_AT_REST: Final = dict.fromkeys(FACES, -1.1) | {"neutral": 1.6, "happiness": 0.0, "fear": -2.0}
"""Logits of a face that reacts to nothing."""

_DELAY_S: Final = 0.6
"""A face follows what is said by about so much, and stays so much longer."""

_INERTIA: Final = 0.6
"""Correlation of a face's noise from one second to the next."""


@dataclass(frozen=True, slots=True, eq=False)
class Heard:
    """What there is to react to, turn by turn: whose it was, when, and how it was meant to land.

    `speakers` int [T]; `spans` float [T, 2] in seconds; `visible` float [T], the part of the reward
    that a face shows; `is_playful` bool [T], turns at which one smiles if only out of manners.
    """

    speakers: NDArray[np.intp]
    spans: NDArray[np.float64]
    visible: NDArray[np.float64]
    is_playful: NDArray[np.bool_]

    @property
    def num_seconds(self) -> int:
        """How long the recording lasts."""
        return int(np.ceil(self.spans.max())) + 1


def reaction(heard: Heard, person: int) -> NDArray[np.float64]:
    """The visible reward that reaches one person in each second, float [S]; 0 while they talk."""
    turn, is_listening = _listening(heard, person)
    return np.where(is_listening, heard.visible[turn], 0.0)


def probabilities(
    heard: Heard, number: int, person: Person, settings: Settings, random: np.random.Generator
) -> NDArray[np.float64]:
    """The face of one person, float [S, C]; rows sum to 1, or are NaN without a face.

    `number` is the person's place in `heard.speakers`; the warmth of a conversation is for
    `person.smile` to hold.
    """
    turn, is_listening = _listening(heard, number)
    chance = settings.polite_chance * np.where(heard.is_playful, 3.0, 1.0)
    is_polite = random.random(len(chance)) < chance
    shown = np.where(is_listening, heard.visible[turn], 0.0)
    polite = is_listening & is_polite[turn]
    logits = np.tile([_AT_REST[name] for name in FACES], (heard.num_seconds, 1))
    logits += _noise(logits.shape, settings.face_noise, random)
    logits[:, _HAPPY] += person.smile + random.normal(0, settings.turn_noise, len(chance))[turn]
    much = person.expressiveness * settings.smile_gain
    logits[:, _HAPPY] += much * shown + person.expressiveness * settings.polite_gain * polite
    # of the ways to look displeased one turn meets one
    way = np.array(_NEGATIVE)[random.integers(len(_NEGATIVE), size=len(chance))]
    logits[np.arange(len(turn)), way[turn]] += much * np.maximum(-shown, 0)
    logits[:, _SURPRISE] += 0.5 * np.abs(shown)
    weights = np.exp(logits)
    faces = weights / weights.sum(axis=1, keepdims=True)
    faces[random.random(len(faces)) < settings.faceless_rows] = np.nan
    return faces


def is_speaking(heard: Heard, person: int) -> NDArray[np.bool_]:
    """In which seconds one person talks, bool [S]."""
    own = heard.spans[heard.speakers == person]
    seconds = np.arange(heard.num_seconds)
    begun = np.searchsorted(own[:, 0], seconds, side="right")
    return begun > np.searchsorted(own[:, 1], seconds, side="left")


def _listening(heard: Heard, person: int) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """The turn that each second reacts to, and whether the person listens to it at all."""
    seconds = np.arange(heard.num_seconds) - _DELAY_S
    turn = np.searchsorted(heard.spans[:, 0], seconds, side="right") - 1
    turn = np.maximum(turn, 0)
    is_listening = (heard.speakers[turn] != person) & (seconds >= heard.spans[0, 0])
    return turn, is_listening


def _noise(
    shape: tuple[int, ...], spread: float, random: np.random.Generator
) -> NDArray[np.float64]:
    """Noise that lingers from second to second, with the given deviation."""
    noise = random.normal(0, spread, shape)
    fresh = np.sqrt(1 - _INERTIA**2)
    for second in range(1, shape[0]):
        noise[second] = _INERTIA * noise[second - 1] + fresh * noise[second]
    return noise
