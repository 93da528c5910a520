"""Which tasks an update of a policy plays, and which trials of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from drl.runtime.seeds import derive
from drl.trainer._online import Job
from drl.types import Task


@dataclass(frozen=True, slots=True)
class Schedule:
    """Tasks in an order drawn by the seed, again and again, each time in another one.

    An update takes the next `tasks_per_update` of them, `trials` times each.
    """

    tasks: Sequence[Task]
    tasks_per_update: int
    trials: int
    seed: int

    def jobs(self, update: int) -> Iterator[Job]:
        """Those of an update, from 0 on; each time that a task comes again its trials go on."""
        first = update * self.tasks_per_update
        for place in range(first, first + self.tasks_per_update):
            lap, rank = divmod(place, len(self.tasks))
            task = self.tasks[self._order(lap)[rank]]
            for trial in range(self.trials):
                yield task, lap * self.trials + trial

    def _order(self, lap: int) -> list[int]:
        """A shuffle of all places, one for each lap."""
        places = range(len(self.tasks))
        return sorted(places, key=lambda place: derive("order of tasks", self.seed, lap, place))
