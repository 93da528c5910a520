"""A written language of tool use: how a model is told of it, read in it and shown it again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from drl.agent._rewrite import rewritten
from drl.llm.base import Message
from drl.types import Step, Toolbox


class Style(ABC):
    """One language. All of it is pure text work; no style keeps anything."""

    stop: tuple[str, ...]
    """Where a model would begin to make up what others say."""

    holds_several: bool
    """Whether one output may hold several calls."""

    @property
    @abstractmethod
    def note(self) -> str:
        """What the last request of a turn adds, when only a reply is possible."""

    @abstractmethod
    def system(self, toolbox: Toolbox) -> str:
        """The system prompt."""

    @abstractmethod
    def read(self, text: str, toolbox: Toolbox) -> Step:
        """The step that an output stands for: calls, a reply, or the error to hand back."""

    @abstractmethod
    def read_last(self, text: str) -> Step:
        """The step of an output that has to be a reply; without one where it holds none."""

    @abstractmethod
    def shown(self, step: Step, number: int) -> Sequence[Message]:
        """An own step and what its calls gave, as messages; `number` is its place in the dialogue.

        A reply that the text does not spell as it should is shown as it should have been written.
        """

    @abstractmethod
    def spoken(self, text: str) -> str:
        """The output that says a text."""

    @abstractmethod
    def written(self, step: Step) -> str:
        """The output that makes the calls of a step, or else gives its reply."""

    def rewrite(self, step: Step, toolbox: Toolbox) -> tuple[Step, ...]:
        """A step of whatever agent in this language, one step an output."""
        return rewritten(
            step,
            lambda text: self.read(text, toolbox),
            self.written,
            holds_several=self.holds_several,
        )

    def output(self, step: Step, number: int) -> Message:
        """The output of an own step, as `shown` gives it."""
        return self.shown(step, number)[0]
