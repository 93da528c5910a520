"""What people answered after a conversation: the questions that can be learned from, and answers.

Source of names and of the scales of affect and of the sliders: CANDOR (Reece et al. 2023) and the
reward classes of GELI (arXiv:2403.11330).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final, TypeAlias

from drl.domains.candor.faults import Note, Notes, Reason, UnusableError
from drl.domains.candor.tables import Table, finite

Scale: TypeAlias = tuple[float, float]

_NINE_POINTS: Final = (1.0, 9.0)
_SLIDER: Final = (0.0, 100.0)

SCALES: Final[Mapping[str, Scale]] = {
    "overall_affect": _NINE_POINTS,
    "end_affect": _NINE_POINTS,
    "conversationalist": _SLIDER,
    "good_for_advice": _SLIDER,
    # no published source at hand says how these are scaled; nine points contain the usual seven
    **dict.fromkeys(
        (
            *("overall_memory_rating", "how_enjoyable", "i_like_you", "in_common"),
            *("our_thoughts_synced_up_sr1", "you_are_funny", "you_are_intelligent"),
            *("you_are_humble", "you_are_quickwitted", "you_are_competent", "you_are_kind"),
            *("you_are_friendly", "you_are_warm"),
        ),
        _NINE_POINTS,
    ),
}
"""GELI's reward classes, each with the lowest and the highest answer."""


def read(path: Path, target: str, notes: Notes) -> Mapping[str, float | None]:
    """The answer to one question by each person, as it stands there; None where none was given.

    Raises:
        UnusableError: the file is missing or empty, or lacks a column.
    """
    if not path.is_file():
        raise UnusableError(Reason.NO_SURVEY, path.name)
    table = Table(path, notes)
    if not table.columns:
        raise UnusableError(Reason.EMPTY_SURVEY, path.name)
    answers: dict[str, float | None] = {}
    for person, answer in table.rows([table.place("user_id"), table.place(target)]):
        if not person.strip():
            continue
        if person.strip() in answers:
            notes[Note.DUPLICATE_ANSWERS] += 1
        else:
            answers[person.strip()] = finite(answer)
    if not answers:
        raise UnusableError(Reason.EMPTY_SURVEY, path.name)
    return answers
