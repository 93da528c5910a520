"""Which tasks of a split a dataset gives: some by id, a slice in some order, one shard of it."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

from drl.errors import ConfigError

_Task = TypeVar("_Task")


@dataclass(kw_only=True)
class TaskChoice:
    """The settings by which every dataset lets its tasks be chosen; `ids` None takes all.

    `shuffle` is the seed of an order that is drawn; None keeps the given one. Of `limit` tasks from
    number `start` every `num_shards`-th is taken, beginning with number `shard`.
    """

    ids: list[str] | None
    shuffle: int | None
    start: int
    limit: int | None
    shard: int
    num_shards: int

    def check_choice(self) -> None:
        """Refuse a choice that no data could satisfy.

        Raises:
            ConfigError: it chooses no task, or a shard that does not exist.
        """
        if self.start < 0:
            raise ConfigError(
                f"dataset.start={self.start} must not be negative; 0 is the first task"
            )
        if self.limit is not None and self.limit < 1:
            raise ConfigError(
                f"dataset.limit={self.limit} chooses no task; use at least 1, or null for all"
            )
        if self.num_shards < 1:
            raise ConfigError(f"dataset.num_shards={self.num_shards} must be at least 1; use 1")
        if not 0 <= self.shard < self.num_shards:
            raise ConfigError(
                f"dataset.shard={self.shard} must be from 0 to {self.num_shards - 1} "
                f"(dataset.num_shards={self.num_shards}); lower it"
            )

    def take_shard(self, chosen: Sequence[_Task]) -> Sequence[_Task]:
        """The shard of the slice in the order that is drawn.

        Raises:
            ConfigError: none is left.
        """
        order = list(chosen)
        if self.shuffle is not None:
            Random(self.shuffle).shuffle(order)
        end = None if self.limit is None else self.start + self.limit
        within = order[self.start : end]
        if not within:
            raise ConfigError(
                f"dataset.start={self.start} is past the last of the {len(order)} chosen tasks; "
                "lower it"
            )
        part = within[self.shard :: self.num_shards]
        if not part:
            raise ConfigError(
                f"dataset.shard={self.shard} of {self.num_shards} is empty: only {len(within)} "
                "tasks are chosen; lower dataset.num_shards or choose more"
            )
        return part


def take_named(
    split: Sequence[str], wanted: Collection[str] | None, unknown: Callable[[str], str]
) -> list[str]:
    """The ids of a split that are wanted, in its order; all of them for None.

    Raises:
        ConfigError: one is not in the split; `unknown` words the complaint.
    """
    if wanted is None:
        return list(split)
    for missing in sorted(set(wanted) - set(split)):
        raise ConfigError(unknown(missing))
    return [name for name in split if name in wanted]
