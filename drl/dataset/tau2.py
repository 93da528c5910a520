"""tau2-bench: customers who also have tools, with the calls that solve their tasks.

From a package tau2 that users install, or a checkout of it (github.com/sierra-research/tau2-bench,
MIT). Source: Barres et al. 2025 (arXiv:2506.07982).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from drl.dataset._choice import TaskChoice, take_named
from drl.dataset.base import Dataset
from drl.domains.tau2 import world
from drl.domains.tau2.world import Scene
from drl.types import Brief, Goal, Role, Step, Task, Turn

GREETING = "Hi! How can I help you today?"
"""What every agent of tau2 says first, unless a task begins in the middle of a dialogue."""

_ISSUE = re.compile(r"^\[(\w+)\]")
_PERSONA = re.compile(r"\[PERSONA:(\w+)\]")


@dataclass(kw_only=True)
class Tau2Dataset(TaskChoice, Dataset):
    """The tasks of one split of a domain under tau2's ids, in its order.

    Goals are the actions of the agent's side. The customer is told what tau2 tells it. A task that
    begins in the middle of a dialogue has its words as opening; calls in it are carried out, but
    the participants do not see them.
    """

    root: str | None
    domain: str
    split: str

    def __post_init__(self) -> None:
        """Check the choice of tasks as far as it needs no data."""
        self.check_choice()

    @property
    def version(self) -> str:
        """The number of the package, and a hash of the domain's data and code.

        Raises:
            ConfigError: there is no tau2, no such domain, or no data for it.
        """
        return world.version(self.root, self.domain)

    def load(self) -> Sequence[Task]:
        """The chosen tasks.

        Of the split first `ids` are taken, in the order that `shuffle` draws; of those `limit`
        from number `start` on; of those the shard.

        Raises:
            ConfigError: as `version`; or there is no such split, or no such task in it.
        """
        found = world.load_scenes(self.root, self.domain, self.split)
        scenes = {scene.task.id: scene for scene in found}
        some = ", ".join([*scenes][:3])
        chosen = take_named(
            tuple(scenes),
            self.ids,
            lambda missing: (
                f"dataset.ids={missing} is no task of tau2 {self.domain} {self.split}; its ids "
                f"are {some}, ..."
            ),
        )
        return [self._task(scenes[name]) for name in self.take_shard(chosen)]

    def _task(self, scene: Scene) -> Task:
        return Task(
            id=scene.task.id,
            split=self.split,
            brief=Brief(instructions=(str(scene.task.user_scenario),)),
            goals=tuple(
                Goal(
                    kind=action.name,
                    domain=self.domain,
                    arguments=action.arguments,
                    details={"compare_args": action.compare_args},
                )
                for action in scene.actions
                if action.requestor == "assistant"
            ),
            world=scene,
            opening=_opening(scene),
            groups=_groups(scene),
        )


def _opening(scene: Scene) -> tuple[Turn, ...]:
    roles = {"assistant": Role.AGENT, "user": Role.USER}
    said = [(roles[m.role], m.content) for m in scene.history if m.role in roles]
    return tuple(
        Turn(role, text, (Step(text, reply=text),))
        for role, text in said or [(Role.AGENT, GREETING)]
        if text
    )


def _groups(scene: Scene) -> Mapping[str, str]:
    """What the task demands; in telecom also the kind of fault and of customer."""
    groups = {"demands": "+".join(scene.basis) or "nothing"}
    for kind, pattern in (("issue", _ISSUE), ("persona", _PERSONA)):
        found = pattern.search(scene.task.id)
        if found:
            groups[kind] = found[1]
    return groups
