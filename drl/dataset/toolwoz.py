"""ToolWOZ: 7,849 dialogues about hotels, attractions, trains and restaurants, from MultiWOZ.

Published with josh-train 0.1.4 (MIT); fetched the first time it is loaded.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from drl.dataset._choice import TaskChoice, take_named
from drl.dataset.base import Dataset
from drl.domains.toolwoz import fetch, world
from drl.domains.toolwoz.brief import brief
from drl.domains.toolwoz.winnable import unreachable
from drl.domains.toolwoz.world import SPLITS, World
from drl.errors import ConfigError, DataError
from drl.types import Task


@dataclass(kw_only=True)
class ToolWOZDataset(TaskChoice, Dataset):
    """The tasks of one split, ordered by id."""

    root: str
    split: str
    exclude_unwinnable: bool

    def __post_init__(self) -> None:
        """Check the choice of tasks as far as it needs no data."""
        if self.split not in SPLITS:
            raise ConfigError(
                f"dataset.split={self.split} is unknown; use one of {', '.join(SPLITS)}"
            )
        self.check_choice()

    @property
    def version(self) -> str:
        """The version of the stored data.

        Raises:
            DataError: it is missing, corrupt, or of another version.
        """
        return world.load(Path(self.root)).version

    def load(self) -> Sequence[Task]:
        """The chosen tasks; fetches the data if it is not there yet.

        Of the split first `ids` are taken, in the order that `shuffle` draws; of those `limit`
        from number `start` on; of those the shard.

        Raises:
            DataError: the data cannot be fetched or read.
            ConfigError: an id is not in the split, or no task is left.
        """
        loaded = _fetched(Path(self.root))
        shard = self.take_shard(self._choose(loaded))
        return [self._task(loaded, dialogue_id) for dialogue_id in shard]

    def _choose(self, loaded: World) -> list[str]:
        wanted = None if self.ids is None else {_full(dialogue_id) for dialogue_id in self.ids}
        chosen = take_named(
            loaded.splits[self.split], wanted, lambda missing: self._unknown(loaded, missing)
        )
        if self.exclude_unwinnable:
            chosen = [dialogue_id for dialogue_id in chosen if _winnable(loaded, dialogue_id)]
        if not chosen:
            raise ConfigError(
                f"dataset.ids={self.ids} leaves no task of split {self.split}; name at least one "
                "that can be won, or set dataset.ids=null"
            )
        return chosen

    def _unknown(self, loaded: World, dialogue_id: str) -> str:
        homes = [split for split, ids in loaded.splits.items() if dialogue_id in ids]
        if not homes:
            some = ", ".join(loaded.splits[self.split][:3])
            return (
                f"dataset.ids={dialogue_id} is no dialogue of ToolWOZ; "
                f"ids of split {self.split} are {some}, ..."
            )
        return (
            f"dataset.ids={dialogue_id} is not in split {self.split}; "
            f"set dataset.split={homes[0]} for it"
        )

    def _task(self, loaded: World, dialogue_id: str) -> Task:
        scene = loaded.scene(dialogue_id)
        return Task(
            id=dialogue_id,
            split=self.split,
            brief=brief(scene.record, loaded.definitions),
            goals=scene.derived.goals,
            world=scene,
        )


def _fetched(root: Path) -> World:
    """The world; data that is missing, damaged or of another version is fetched."""
    try:
        return world.load(root)
    except DataError:
        fetch.fetch(root)
        return world.load(root)


def _full(dialogue_id: str) -> str:
    return dialogue_id if dialogue_id.endswith(".json") else f"{dialogue_id}.json"


def _winnable(loaded: World, dialogue_id: str) -> bool:
    """Whether all goals can be reached, under the published rules and the repaired ones."""
    scene = loaded.scene(dialogue_id)
    return not unreachable(scene, "faithful") and not unreachable(scene, "fixed")
