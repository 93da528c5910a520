"""Half of the training conversations of a dataset, so that two models learn from different ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from drl.dataset.base import SessionDataset
from drl.errors import DataError
from drl.runtime.seeds import derive
from drl.turn_reward.session import Session
from drl.types import JSON, Task


@dataclass(kw_only=True)
class HalfOfSessions(SessionDataset):
    """A dataset of which every second training conversation is not seen.

    All of val and test stays. `half` 0 and 1 share no training conversation, but people may have
    spoken in both. Which is where is drawn by `seed`, whatever else is in the dataset.
    """

    whole: SessionDataset
    half: int
    seed: int

    @property
    def target(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride] read only
        """The question that listeners answered."""
        return self.whole.target

    @property
    def version(self) -> str:
        """That of the whole: every session is as it is there."""
        return self.whole.version

    @property
    def score_range(self) -> tuple[float, float]:
        """The lowest and the highest answer there is, in points."""
        return self.whole.score_range

    @property
    def is_synthetic(self) -> bool:
        """Whether the conversations were generated."""
        return self.whole.is_synthetic

    @property
    def folder(self) -> Path:
        """Where the data lies."""
        return self.whole.folder

    def sessions(self) -> Sequence[Session]:
        """Those of val and test, and those of this half of the training conversations.

        Raises:
            DataError: there is only one training conversation; or as the whole.
        """
        everything = self.whole.sessions()
        names = {each.conversation_id for each in everything if each.split == "train"}
        if len(names) < 2:
            raise DataError(
                f"dataset: {len(names)} training conversations cannot be halved; give more, or set "
                "trainer.halves=false and another trainer.judge.encoder.model"
            )
        drawn = sorted(names, key=lambda name: derive("half of sessions", self.seed, name))
        others = set(drawn[1 - self.half :: 2])
        return [each for each in everything if each.conversation_id not in others]

    def report(self) -> Mapping[str, JSON]:
        """As the whole has it, and how many training conversations are in this half."""
        train = {each.conversation_id for each in self.sessions() if each.split == "train"}
        return {**self.whole.report(), "half": self.half, "training_conversations": len(train)}

    def load(self) -> Sequence[Task]:
        """The tasks of the whole."""
        return self.whole.load()
