"""MT-Bench: 80 questions of two turns (Zheng et al. 2023, arXiv:2306.05685); or 12 of our own.

The published ones are fetched the first time they are loaded. Ours have answers that a rule can
look for: they check a set-up and measure no model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from drl.dataset._choice import TaskChoice, take_named
from drl.dataset.base import Dataset
from drl.domains.mt_bench import world
from drl.domains.mt_bench.fetch import fetched
from drl.domains.mt_bench.questions import Question
from drl.domains.mt_bench.world import World
from drl.errors import ConfigError
from drl.types import Brief, Task

_SPLIT = "test"
"""Of all questions: none are there to learn from."""


@dataclass(kw_only=True)
class MTBenchDataset(TaskChoice, Dataset):
    """A task for each question: the customer asks its turns in order, and there are no goals.

    A task prescribes the temperature of its category, and its `world` is the `Question`.
    """

    questions: Literal["published", "own"]
    root: str
    categories: list[str] | None

    def __post_init__(self) -> None:
        """Check the choice of questions as far as it needs no data."""
        if self.categories is not None and not self.categories:
            raise ConfigError("dataset.categories=[] takes no question; name some, or use null")
        self.check_choice()

    @property
    def version(self) -> str:
        """The version of the questions.

        Raises:
            DataError: they are missing, corrupt, or of another version.
        """
        if self.questions == "own":
            return world.OWN_VERSION
        return world.load(Path(self.root)).version

    def load(self) -> Sequence[Task]:
        """The chosen questions; fetches them if they are not there yet.

        First `ids` of the `categories` are taken, in the order that `shuffle` draws; of those
        `limit` from number `start` on; of those the shard.

        Raises:
            DataError: they cannot be fetched or read.
            ConfigError: an id or category does not exist, or no question is left.
        """
        loaded = world.own() if self.questions == "own" else fetched(Path(self.root))
        within = self._within(loaded)
        chosen = take_named(within, self.ids, lambda missing: _unknown(within, missing))
        if not chosen:
            raise ConfigError(
                "dataset.ids=[] leaves no question; name at least one, or set dataset.ids=null"
            )
        return [_task(loaded.questions[name]) for name in self.take_shard(chosen)]

    def _within(self, loaded: World) -> list[str]:
        """The ids of the chosen categories."""
        known = dict.fromkeys(question.category for question in loaded.questions.values())
        for category in self.categories or ():
            if category not in known:
                raise ConfigError(
                    f"dataset.categories={category} has no question; known: {', '.join(known)}"
                )
        wanted = known if self.categories is None else self.categories
        return [name for name, each in loaded.questions.items() if each.category in wanted]


def _task(question: Question) -> Task:
    return Task(
        id=str(question.number),
        split=_SPLIT,
        brief=Brief((), human_turns=question.turns),
        goals=(),
        world=question,
        groups={"category": question.category},
        temperature=question.temperature,
    )


def _unknown(ids: Sequence[str], name: str) -> str:
    some = ", ".join(ids[:3]) + (", ..." if len(ids) > 3 else "")
    return f"dataset.ids={name} is no question of those chosen; ids are {some}"
