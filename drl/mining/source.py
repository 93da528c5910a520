"""Where trees come from, with all that tells of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from drl.agent.base import Agent
from drl.environment.base import Environment
from drl.errors import DataError
from drl.tree.chance import Chance
from drl.tree.dialogue_tree import DialogueTree
from drl.types import Task, Toolbox


@dataclass(frozen=True, kw_only=True)
class Source:
    """Saved trees, the tasks they are about, and who made them.

    `name` is short and holds no path; `place` is where the trees lie, for messages. `agent` is the
    one that played. `mode`, `simulator`, `llm` and `command` are for people to read.
    """

    name: str
    place: str
    agent: Agent
    data_version: str
    mode: str
    simulator: str
    llm: str
    command: str
    tasks: Mapping[str, Task] = field(repr=False)
    environment: Environment = field(repr=False)
    read: Callable[[], Iterator[DialogueTree]] = field(repr=False)
    known_chances: Mapping[tuple[str, int], Mapping[int, Chance]] = field(repr=False)
    _toolboxes: dict[str, Toolbox] = field(init=False, repr=False, default_factory=dict)

    def trees(self) -> Iterator[DialogueTree]:
        """The trees, one at a time; each call reads them anew, in the same order.

        Those of a run come by task id and trial, in whatever order its rollouts finished.

        Raises:
            DataError: there are none, all are broken, or one is of a task that the data lacks.
        """
        num_trees = num_broken = 0
        for tree in self.read():
            self._task(tree.task_id)
            num_trees += 1
            num_broken += tree.is_broken
            yield tree
        if num_trees == num_broken:
            found = f"all {num_trees} trees are broken" if num_trees else "there are no trees"
            raise DataError(
                f"{self.place}: {found}, and rows are made of dialogues that came to an end; start "
                "the run again to finish it"
            )

    def toolbox(self, task_id: str) -> Toolbox:
        """The tools that the agent had in a task.

        Raises:
            DataError: the data lacks the task.
        """
        if task_id not in self._toolboxes:
            self._toolboxes[task_id] = self.environment.open(self._task(task_id)).toolbox
        return self._toolboxes[task_id]

    def split(self, task_id: str) -> str:
        """The split that a task belongs to.

        Raises:
            DataError: the data lacks the task.
        """
        return self._task(task_id).split

    def chances(self, task_id: str, trial: int) -> Mapping[int, Chance]:
        """What `drl resample` found out about the nodes of a tree; empty if nobody asked."""
        return self.known_chances.get((task_id, trial), {})

    def _task(self, task_id: str) -> Task:
        task = self.tasks.get(task_id)
        if task is None:
            raise DataError(
                f"{self.place}: its trees are of task {task_id}, which its dataset does not hold "
                "now; bring the old data back, or make the run again"
            )
        return task
