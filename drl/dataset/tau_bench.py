"""tau-bench: customers of a shop or an airline, with the calls that an agent ought to make.

A copy is published with josh-train 0.1.4 (MIT); fetched the first time it is loaded.
Source: Yao et al. 2024 (arXiv:2406.12045); goals as in the JOSH paper (arXiv:2409.04617).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from drl.dataset._choice import TaskChoice, take_named
from drl.dataset.base import Dataset
from drl.domains.tau import fetch, stored
from drl.domains.tau.forms import FORMS, Form
from drl.domains.tau.source import SPLITS
from drl.domains.tau.tools import Domain
from drl.domains.tau.world import Scene
from drl.errors import ConfigError, DataError
from drl.types import Brief, Goal, Task

_TEST: Final = "test"
_TRAINED: Final = "train"
"""The split that users of other splits may be known from."""


@dataclass(kw_only=True)
class TauBenchDataset(TaskChoice, Dataset):
    """The tasks of one split of a domain, in the published order.

    `data` is the form of the data (`drl.domains.tau.forms`). `goals` says which of the gold actions
    are goals for a search: those that change the database, or all of them, lookups included.
    The details of each goal hold the `outputs` of its task, for agents that are told the goals.
    `exclude_faulty` leaves out tasks whose label is wrong: one of its gold actions ought to change
    the database and is refused. `exclude_overlap` leaves out tasks whose user occurs in tasks of
    split test; of test itself, none.
    """

    root: str
    domain: Domain
    data: Form
    split: str
    goals: Literal["writes", "all"]
    exclude_faulty: bool
    exclude_overlap: bool

    def __post_init__(self) -> None:
        """Check the choice of tasks as far as it needs no data."""
        for key, value, known in (
            ("domain", self.domain, tuple(SPLITS)),
            ("data", self.data, FORMS),
            ("goals", self.goals, ("writes", "all")),
        ):
            if value not in known:
                raise ConfigError(
                    f"dataset.{key}={value} is unknown; use one of {', '.join(known)}"
                )
        if self.split not in SPLITS[self.domain]:
            raise ConfigError(
                f"dataset.split={self.split} does not exist in {self.domain}; "
                f"use one of {', '.join(SPLITS[self.domain])}"
            )
        self.check_choice()

    @property
    def version(self) -> str:
        """The form, the origin and a hash of the stored data.

        Raises:
            DataError: it is missing, corrupt, or of another version.
        """
        return stored.version(Path(self.root), self.data)

    def load(self) -> Sequence[Task]:
        """The chosen tasks; fetches the data if it is not there yet.

        Of the split first `ids` are taken, in the order that `shuffle` draws; of those `limit`
        from number `start` on; of those the shard.

        Raises:
            DataError: the data cannot be fetched or read, or its source has no such form.
            ConfigError: an id is not in the split, or no task is left.
        """
        loaded = self._fetched()
        scenes = {self._id(scene): scene for scene in loaded.splits[self.split]}
        chosen = take_named(tuple(scenes), self.ids, self._unknown)
        tested = {scene.user_id for scene in loaded.splits[_TEST]}
        kept = [name for name in chosen if self._takes(scenes[name], tested)]
        if not kept:
            raise ConfigError(
                f"dataset.ids={self.ids} leaves no task of {self.domain} {self.split}; name at "
                "least one that is not excluded, or set dataset.ids=null"
            )
        return [self._task(name, scenes[name]) for name in self.take_shard(kept)]

    def _fetched(self) -> stored.Stored:
        """The domain; data that is missing, damaged or of another version is fetched."""
        root = Path(self.root)
        try:
            return stored.load(root, self.domain, self.data)
        except DataError:
            fetch.fetch(root)
            return stored.load(root, self.domain, self.data)

    def _id(self, scene: Scene) -> str:
        return f"{self.domain}-{self.split}-{scene.index}"

    def _unknown(self, name: str) -> str:
        """What is said of an id that is not in the split."""
        here, (home, _, number) = f"{self.domain}-{self.split}", name.rpartition("-")
        homes = {f"{domain}-{split}" for domain, splits in SPLITS.items() for split in splits}
        if home not in homes or not number.isdecimal():
            return f"dataset.ids={name} is no task of tau-bench; ids are like {here}-0"
        if home == here:
            return f"dataset.ids={name} is past the last task of {here}; numbers begin with 0"
        domain, _, split = home.partition("-")
        return (
            f"dataset.ids={name} is not in {here}; set dataset.domain={domain} and "
            f"dataset.split={split} for it"
        )

    def _takes(self, scene: Scene, tested: Collection[str]) -> bool:
        if self.exclude_faulty and stored.is_faulty(scene):
            return False
        return not (self.exclude_overlap and self.split != _TEST and scene.user_id in tested)

    def _task(self, name: str, scene: Scene) -> Task:
        is_told = _TRAINED in SPLITS[self.domain] and self.split != _TRAINED
        # the same in all of them, so that a call that is wanted twice stays two equal goals
        details = {"outputs": scene.outputs} if scene.outputs else {}
        return Task(
            id=name,
            split=self.split,
            brief=Brief(instructions=(scene.instruction,)),
            goals=tuple(
                Goal(action.name, self.domain, action.arguments, details)
                for action in scene.actions
                if self.goals == "all" or stored.is_write(self.domain, action)
            ),
            world=scene,
            groups={"user": "seen" if scene.is_seen else "unseen"} if is_told else {},
        )
