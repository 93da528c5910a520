"""Which tasks of a split a dataset gives: some by id, a slice in some order, one shard of it."""

from collections.abc import Callable, Collection, Sequence
from random import Random
from typing import TypeVar

from drl.errors import ConfigError

_Task = TypeVar("_Task")


def check_choice(*, start: int, limit: int | None, shard: int, num_shards: int) -> None:
    """Refuse a choice that no data could satisfy.

    Raises:
        ConfigError: it chooses no task, or a shard that does not exist.
    """
    if start < 0:
        raise ConfigError(f"dataset.start={start} must not be negative; 0 is the first task")
    if limit is not None and limit < 1:
        raise ConfigError(f"dataset.limit={limit} chooses no task; use at least 1, or null for all")
    if num_shards < 1:
        raise ConfigError(f"dataset.num_shards={num_shards} must be at least 1; use 1")
    if not 0 <= shard < num_shards:
        raise ConfigError(
            f"dataset.shard={shard} must be from 0 to {num_shards - 1} "
            f"(dataset.num_shards={num_shards}); lower it"
        )


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


def take_shard(
    chosen: Sequence[_Task],
    *,
    shuffle: int | None,
    start: int,
    limit: int | None,
    shard: int,
    num_shards: int,
) -> Sequence[_Task]:
    """Of `limit` tasks from number `start` every `num_shards`-th, beginning with number `shard`.

    `shuffle` is the seed of an order that is drawn before; None keeps the given one.

    Raises:
        ConfigError: none is left.
    """
    order = list(chosen)
    if shuffle is not None:
        Random(shuffle).shuffle(order)
    within = order[start : None if limit is None else start + limit]
    if not within:
        raise ConfigError(
            f"dataset.start={start} is past the last of the {len(order)} chosen tasks; lower it"
        )
    part = within[shard::num_shards]
    if not part:
        raise ConfigError(
            f"dataset.shard={shard} of {num_shards} is empty: only {len(within)} "
            "tasks are chosen; lower dataset.num_shards or choose more"
        )
    return part
