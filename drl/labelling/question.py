"""The question that a listener answered after a conversation, as a model is told it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

_AFTERWARDS: Final = "Thinking back over the whole conversation:"
_OF_PARTNER: Final = "How well does this describe the other person (the AGENT)?"

_WORDS: Final[Mapping[str, str]] = {
    "overall_affect": f"{_AFTERWARDS} how good or bad did you feel while you talked?",
    "end_affect": "How good or bad did you feel when the conversation came to its end?",
    "overall_memory_rating": f"{_AFTERWARDS} how fondly will you remember it?",
    "how_enjoyable": "How much did you enjoy the conversation?",
    "i_like_you": "How much do you like the other person (the AGENT)?",
    "in_common": "How much do you have in common with the other person (the AGENT)?",
    "conversationalist": "How good is the other person (the AGENT) at making conversation?",
    "good_for_advice": "How gladly would you ask the other person (the AGENT) for advice?",
    "our_thoughts_synced_up_sr1": "How much did the two of you come to think along the same lines?",
    **{
        f"you_are_{trait}": f"{_OF_PARTNER} {trait.replace('quickwitted', 'quick-witted')}"
        for trait in (
            *("funny", "intelligent", "humble", "quickwitted"),
            *("competent", "kind", "friendly", "warm"),
        )
    },
}
"""By the names that CANDOR gives them; the words are ours, those of the survey may differ."""


class Question(NamedTuple):
    """What was asked, and the lowest and highest answer there is."""

    words: str
    lowest: float
    highest: float


def question_of(target: str, score_range: tuple[float, float], words: str | None) -> Question:
    """The question behind a target: in the words that are given, or else in ours.

    A target that nobody has put in words is asked for by its name.
    """
    known = _WORDS.get(target, f"How do you rate this: {target.replace('_', ' ')}?")
    return Question(words or known, *score_range)
