"""What people do in a generated conversation, and what each act is worth after what was said.

This is the hidden turn reward. It depends on two things alone: what the other person's turn left
open (`Opening`), and what the reply does (`Move`). The words of a move are drawn without a look at
the opening, so the same words help in one place and hurt in another: an account of one's own
pottery answers a question and intrudes upon a bereavement.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple


class Opening(StrEnum):
    """What a turn leaves open for the other person."""

    GOOD_NEWS = "good_news"
    BAD_NEWS = "bad_news"
    QUESTION = "question"
    WANTS_ADVICE = "wants_advice"
    OPINION = "opinion"
    STORY = "story"
    NOTHING = "nothing"


class Move(StrEnum):
    """What a turn does with what was left open."""

    CHEER = "cheer"
    COMFORT = "comfort"
    JOKE = "joke"
    ASK_ON = "ask_on"
    """Asks about what the other just brought up."""
    TELL = "tell"
    """Tells of one's own dealings with the matter at hand: an answer where one was asked."""
    ADVISE = "advise"
    AGREE = "agree"
    DISAGREE = "disagree"
    NOD = "nod"
    """Shows no more than that one is still there."""
    SWERVE = "swerve"
    """Asks or tells as `ASK_ON` and `TELL` do, in their words, but of another matter."""
    REPEAT = "repeat"
    """Says once more what one said before."""
    GO_ON = "go_on"
    """Brings up something where nothing was open."""


class Worth(NamedTuple):
    """The two parts of a hidden reward: one that the listener's face shows, one that it hides."""

    visible: float
    faceless: float

    @property
    def reward(self) -> float:
        """The hidden reward of the turn."""
        return self.visible + self.faceless

    def plus(self, other: Worth) -> Worth:
        """Both together."""
        return Worth(self.visible + other.visible, self.faceless + other.faceless)


_GOOD_NEWS: Final[Mapping[Move, Worth]] = {
    Move.CHEER: Worth(0.9, 0.0),
    Move.COMFORT: Worth(-0.7, 0.0),
    Move.JOKE: Worth(0.7, 0.0),
    Move.ASK_ON: Worth(0.5, 0.3),
    Move.TELL: Worth(0.0, -0.5),
    Move.ADVISE: Worth(-0.2, -0.3),
    Move.AGREE: Worth(0.1, 0.0),
    Move.DISAGREE: Worth(-0.7, 0.0),
    Move.NOD: Worth(-0.2, -0.2),
    Move.SWERVE: Worth(-0.3, -0.5),
    Move.REPEAT: Worth(0.0, -0.8),
}
_BAD_NEWS: Final[Mapping[Move, Worth]] = {
    Move.CHEER: Worth(-1.0, 0.0),
    Move.COMFORT: Worth(0.4, 0.5),
    Move.JOKE: Worth(-0.9, 0.0),
    Move.ASK_ON: Worth(0.1, 0.5),
    Move.TELL: Worth(0.0, -0.7),
    Move.ADVISE: Worth(0.0, -0.3),
    Move.AGREE: Worth(-0.3, 0.0),
    Move.DISAGREE: Worth(-0.6, 0.0),
    Move.NOD: Worth(-0.1, -0.2),
    Move.SWERVE: Worth(-0.4, -0.6),
    Move.REPEAT: Worth(0.0, -0.9),
}
_QUESTION: Final[Mapping[Move, Worth]] = {
    Move.TELL: Worth(0.3, 0.5),
    Move.JOKE: Worth(0.3, -0.4),
    Move.ASK_ON: Worth(0.0, -0.5),
    Move.COMFORT: Worth(-0.4, -0.2),
    Move.CHEER: Worth(0.0, -0.4),
    Move.AGREE: Worth(0.0, -0.3),
    Move.NOD: Worth(-0.2, -0.4),
    Move.SWERVE: Worth(-0.2, -0.6),
    Move.REPEAT: Worth(0.0, -0.8),
}
_WANTS_ADVICE: Final[Mapping[Move, Worth]] = {
    Move.ADVISE: Worth(0.3, 0.6),
    Move.TELL: Worth(0.0, 0.1),
    Move.ASK_ON: Worth(0.0, 0.1),
    Move.COMFORT: Worth(0.1, -0.1),
    Move.CHEER: Worth(-0.4, -0.1),
    Move.JOKE: Worth(0.1, -0.5),
    Move.NOD: Worth(-0.2, -0.4),
    Move.SWERVE: Worth(-0.2, -0.7),
    Move.REPEAT: Worth(0.0, -0.8),
}
_OPINION: Final[Mapping[Move, Worth]] = {
    Move.AGREE: Worth(0.6, 0.0),
    Move.DISAGREE: Worth(-0.6, 0.2),
    Move.JOKE: Worth(0.4, 0.0),
    Move.ASK_ON: Worth(0.2, 0.4),
    Move.TELL: Worth(0.1, 0.1),
    Move.COMFORT: Worth(-0.4, 0.0),
    Move.ADVISE: Worth(0.0, -0.4),
    Move.NOD: Worth(-0.1, 0.0),
    Move.SWERVE: Worth(-0.1, -0.4),
    Move.REPEAT: Worth(0.0, -0.6),
}
_STORY: Final[Mapping[Move, Worth]] = {
    Move.ASK_ON: Worth(0.3, 0.5),
    Move.JOKE: Worth(0.6, 0.0),
    Move.CHEER: Worth(0.4, 0.0),
    Move.AGREE: Worth(0.2, 0.0),
    Move.TELL: Worth(0.0, -0.2),
    Move.COMFORT: Worth(-0.3, 0.0),
    Move.ADVISE: Worth(0.0, -0.4),
    Move.DISAGREE: Worth(-0.5, 0.0),
    Move.NOD: Worth(0.0, -0.1),
    Move.SWERVE: Worth(-0.1, -0.5),
    Move.REPEAT: Worth(0.0, -0.6),
}
_NOTHING: Final[Mapping[Move, Worth]] = {
    Move.GO_ON: Worth(0.0, 0.0),
    Move.REPEAT: Worth(0.0, -0.5),
}

WORTHS: Final[Mapping[Opening, Mapping[Move, Worth]]] = {
    Opening.GOOD_NEWS: _GOOD_NEWS,
    Opening.BAD_NEWS: _BAD_NEWS,
    Opening.QUESTION: _QUESTION,
    Opening.WANTS_ADVICE: _WANTS_ADVICE,
    Opening.OPINION: _OPINION,
    Opening.STORY: _STORY,
    Opening.NOTHING: _NOTHING,
}
"""The worth of each move where it can occur. Comfort, answers, advice and questions about a trouble
count for more than a face shows, and being bored or passed over shows in no face."""

BROUGHT_WORTHS: Final[Mapping[Opening, Worth]] = {
    Opening.QUESTION: Worth(0.1, 0.3),
    Opening.GOOD_NEWS: Worth(0.3, 0.0),
    Opening.STORY: Worth(0.1, 0.0),
    Opening.WANTS_ADVICE: Worth(0.0, 0.1),
    Opening.OPINION: Worth(0.0, -0.1),
    Opening.BAD_NEWS: Worth(-0.3, 0.0),
}
"""What it adds to bring something up: interest in the other most, one's own troubles least."""
