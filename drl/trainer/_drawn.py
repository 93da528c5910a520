"""A few of a data set's tasks, spread over all of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from drl.dataset.base import Dataset
from drl.types import Task

_GOLDEN = (5**0.5 - 1) / 2


@dataclass(frozen=True)
class DrawnDataset(Dataset):
    """Tasks that were drawn from a data set of this version."""

    tasks: Sequence[Task]
    drawn_from: str

    @property
    def version(self) -> str:
        """The version of the whole data set."""
        return self.drawn_from

    def load(self) -> Sequence[Task]:
        """The drawn tasks, in the order of the data set."""
        return self.tasks


def draw(dataset: Dataset, count: int, seed: int) -> tuple[DrawnDataset, int]:
    """`count` tasks (or all, if there are fewer), and how many there are in all.

    Raises:
        DataError, ConfigError: as the data set's `load` does.
    """
    tasks = dataset.load()
    chosen = [tasks[position] for position in spread(count, len(tasks), seed)]
    return DrawnDataset(chosen, dataset.version), len(tasks)


def spread(count: int, total: int, seed: int) -> list[int]:
    """Positions below `total`, in order; the more are wanted, the finer they cover the whole.

    A walk in steps of the golden section, whose points lie evenly however many are taken, from a
    start that the seed draws. Whoever asks for more gets the same ones and others.
    """
    if count >= total:
        return list(range(total))
    here = Random(seed).random()
    found: dict[int, None] = {}
    while len(found) < count:
        found[int(here * total)] = None
        here = (here + _GOLDEN) % 1
    return sorted(found)
