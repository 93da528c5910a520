"""Which conversations, and which listeners' sessions of them, are good enough to learn from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from drl.domains.candor.faults import Note, Reason, UnusableError
from drl.domains.candor.files import Recording
from drl.domains.candor.survey import Scale
from drl.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class FilterSettings:
    """What is asked of a conversation.

    `min_turns` counts turns as they are after `same_speaker`. A session needs the score of `both`
    people, of its `own` listener, or `none`; with `need_face` its listener's face in one second at
    least.
    """

    min_turns: int
    need_score: Literal["both", "own", "none"]
    need_face: bool

    def __post_init__(self) -> None:
        """Check the settings."""
        if self.min_turns < 2:
            raise ConfigError(
                f"min_turns={self.min_turns} must be at least 2, one of each speaker; raise it"
            )


def check_conversation(recording: Recording, settings: FilterSettings) -> None:
    """Refuse a conversation as a whole.

    Raises:
        UnusableError: it has too few turns.
    """
    if len(recording.turns) < settings.min_turns:
        raise UnusableError(Reason.TOO_FEW_TURNS, f"{len(recording.turns)}")


def score_of(
    recording: Recording, listener: str, scale: Scale, settings: FilterSettings
) -> float | None:
    """A listener's score; None where it is missing or outside the scale and none is needed.

    Raises:
        UnusableError: a score that the settings ask for is missing or outside the scale.
    """
    needed = {"both": recording.speakers, "own": (listener,), "none": ()}[settings.need_score]
    for speaker in needed:
        _check_score(recording.answers[speaker], speaker, scale)
    score = recording.answers[listener]
    if score is not None and not scale[0] <= score <= scale[1]:
        recording.notes[Note.SCORE_OUTSIDE_SCALE] += 1
        return None
    return score


def check_face(recording: Recording, listener: str, settings: FilterSettings) -> None:
    """Refuse a session whose listener was never seen.

    Raises:
        UnusableError: the settings ask for a face and there is none.
    """
    seen = recording.signals.get(listener)
    if settings.need_face and (seen is None or bool(np.isnan(seen.faces).all())):
        raise UnusableError(Reason.NO_FACE, listener)


def _check_score(score: float | None, speaker: str, scale: Scale) -> None:
    if score is None:
        raise UnusableError(Reason.NO_SCORE, speaker)
    if not scale[0] <= score <= scale[1]:
        raise UnusableError(
            Reason.SCORE_OUTSIDE_SCALE, f"{score:g} is not in {scale[0]:g} to {scale[1]:g}"
        )
