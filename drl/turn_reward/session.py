"""A recorded session as a turn reward is learned from it, whatever recording it came from.

A conversation of two people is two sessions: in each, one of them is the agent whose turns earn
rewards, and the other is the listener, whose score and face tell how it went.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from drl.types import JSON, Role


class Utterance(NamedTuple):
    """What one side said until it handed over."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Reaction:
    """How the listener took an agent's turn.

    `label` is the target of learning, in the scale that the dataset chose; None where nothing of
    the listener was seen or heard. `cues` says in words what was, for models that read words.
    """

    label: float | None
    cues: Mapping[str, JSON] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SessionTurn:
    """One turn: its number in the recording, who spoke, and from when to when, in seconds."""

    number: int
    role: Role
    text: str
    start: float
    stop: float
    reaction: Reaction | None = None
    """Of the listener, where the agent spoke; None for the listener's own turns."""


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation as one listener met it. Sessions of one conversation are not independent.

    `score` is the listener's answer afterwards, in points of the question's scale; None where it
    was not given.
    """

    id: str
    conversation_id: str
    split: str
    turns: tuple[SessionTurn, ...]
    score: float | None

    @property
    def utterances(self) -> Sequence[Utterance]:
        """What was said, in order."""
        return [Utterance(turn.role, turn.text) for turn in self.turns]

    @property
    def agent_turns(self) -> Sequence[int]:
        """The places in `turns` where the agent spoke: each of them earns a reward."""
        return [place for place, turn in enumerate(self.turns) if turn.role is Role.AGENT]
