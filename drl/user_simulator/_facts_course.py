"""What a customer that goes by rules does next, worked out anew from all that the agent has said.

It opens with its first request, says who it is when asked, agrees when asked for leave, and tells
its further requests one a turn. It hangs up once all is told and the agent neither asks nor acts
any more, or when nothing new was said for too long.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from drl.user_simulator._instruction import Instruction
from drl.user_simulator._service_talk import Heard, hear

_WORD = re.compile(r"[A-Za-z]{4,}")
_AN_ID = re.compile(r"#\w+|\b[A-Z0-9]{6}\b|\b\d{5,}\b")
_STEM = 5
"""Letters by which two words are taken for the same."""
_FILLERS = frozenset(
    [
        *("what", "which", "would", "could", "your", "have", "with", "that", "this", "pleas"),
        *("like", "there", "then", "when", "about", "want", "them"),
    ]
)
"""Stems that say nothing of what a question is about."""


class Kind(StrEnum):
    """What a customer's turn is."""

    OPEN = "opens"
    IDENTIFY = "says who it is"
    REQUEST = "tells what it wants"
    ANSWER = "answers"
    REPEAT = "says it again"
    AGREE = "agrees"
    UNKNOWN = "does not know"
    WAIT = "waits"
    NUDGE = "asks to get on"
    STOP = "hangs up"


@dataclass(frozen=True, slots=True)
class Act:
    """A turn: what it is, the facts that it names, and the request that it tells."""

    kind: Kind
    facts: tuple[str, ...] = ()
    request: str = ""


@dataclass(slots=True)
class Course:
    """The dialogue so far from the customer's side; `next_act` takes one reply at a time."""

    instruction: Instruction
    patience: int
    _said: list[str] = field(default_factory=list)
    _named: set[str] = field(default_factory=set)
    _heard: set[str] = field(default_factory=set)
    _idle: int = 0

    def opening(self) -> Act:
        """The first turn."""
        return self._told(Kind.OPEN)

    def next_act(self, reply: str) -> Act:
        """The turn after a reply of the agent."""
        words = " ".join(reply.lower().split())
        is_repeated = words in self._heard
        self._heard.add(words)
        num_told = len(self._said) + len(self._named)
        act = self._act(hear(reply), is_repeated=is_repeated)
        is_new = len(self._said) + len(self._named) > num_told
        agrees = act.kind is Kind.AGREE and not is_repeated
        self._idle = 0 if is_new or agrees else self._idle + 1
        return Act(Kind.STOP) if self._idle >= self.patience else act

    def _act(self, heard: Heard, *, is_repeated: bool) -> Act:
        if heard.fields or heard.wants_identity:
            return self._identified(heard)
        if is_repeated and not self._unsaid():
            return Act(Kind.STOP)
        if heard.wants_consent:
            return Act(Kind.AGREE)
        if heard.question:
            return self._answered(heard)
        if self._unsaid():
            return self._told(Kind.REQUEST)
        if heard.asks_what_else:
            return Act(Kind.STOP)
        if heard.asks_how_to_help:
            return Act(Kind.REPEAT, request=self._said[-1]) if self._said else Act(Kind.UNKNOWN)
        if heard.is_done:
            return Act(Kind.STOP)
        return Act(Kind.WAIT if heard.will_act else Kind.NUDGE)

    def _unsaid(self) -> list[str]:
        return [request for request in self.instruction.requests if request not in self._said]

    def _told(self, kind: Kind, request: str = "") -> Act:
        """Tells this request, or the first that is open; without one it is an act without."""
        unsaid = self._unsaid()
        request = request or (unsaid[0] if unsaid else "")
        if request and request not in self._said:
            self._said.append(request)
        return Act(kind, request=request)

    def _identified(self, heard: Heard) -> Act:
        """The facts that are asked for; others where none of those is known."""
        known = self.instruction.facts
        wanted = tuple(name for name in heard.fields if name in known) or tuple(known)
        if not wanted:
            return self._told(Kind.UNKNOWN)
        self._named.update(wanted)
        return Act(Kind.IDENTIFY, facts=wanted)

    def _answered(self, heard: Heard) -> Act:
        """The request that the question is about; else that it is not known, and what is open."""
        unsaid = self._unsaid()
        if heard.wants_id:
            unsaid = [request for request in unsaid if _AN_ID.search(request)]
        answer = max(unsaid, key=lambda request: _shared(request, heard.question), default="")
        if _shared(answer, heard.question):
            return self._told(Kind.ANSWER, answer)
        said = [one for one in self._said if not heard.wants_id or _AN_ID.search(one)]
        before = max(said, key=lambda request: _shared(request, heard.question), default="")
        if _shared(before, heard.question) > (0 if heard.wants_id else 1):
            return Act(Kind.REPEAT, request=before)
        return self._told(Kind.UNKNOWN)


def course_of(instruction: Instruction, patience: int, replies: Sequence[str]) -> Act:
    """The turn after these replies."""
    course = Course(instruction, patience)
    act = course.opening()
    for reply in replies:
        act = course.next_act(reply)
    return act


def _shared(request: str, question: str) -> int:
    """How many words that tell something both hold."""
    return len(_stems(request) & _stems(question) - _FILLERS)


def _stems(text: str) -> set[str]:
    return {word.lower()[:_STEM] for word in _WORD.findall(text)}
