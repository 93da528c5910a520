"""What becomes of the databases, and of each call, when a task's gold actions are carried out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from drl.domains.tau.tables import Tables
from drl.domains.tau.tools import TRANSFER, Domain, Mode, carry_out, is_error, tools_of
from drl.types import JSON


@dataclass(frozen=True, slots=True)
class Action:
    """A call of the list that a task counts as its right answer."""

    name: str
    arguments: Mapping[str, JSON]


@dataclass(frozen=True, slots=True)
class Gold:
    """What is kept of a replay: the state that it led to, and which actions were refused."""

    digest: str
    is_changed: bool
    failed: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Replay:
    """The state after the gold actions, and what each returned.

    `observations` pairs up with the actions; None stands for the transfer, which is left out, and
    for the fourth certificate. Errors stay in it: calls after one are carried out all the same.
    """

    digest: str
    observations: tuple[str | None, ...]
    is_changed: bool
    """Whether the state is another than before; if not, doing nothing is right."""

    @property
    def failed(self) -> tuple[int, ...]:
        """The positions of gold actions that the tools refuse: faults of the labels."""
        return tuple(n for n, text in enumerate(self.observations) if is_error(text))

    @property
    def gold(self) -> Gold:
        """The replay without what tools returned."""
        return Gold(self.digest, self.is_changed, self.failed)


def replay(
    tables: Tables, domain: Domain, actions: Sequence[Action], mode: Mode = "faithful"
) -> Replay:
    """Carry out gold actions on a fork of the tables.

    Source: tau-bench `envs/base.py`, `calculate_reward`.
    """
    tools = tools_of(domain, mode)
    branch = tables.fork()
    observations = tuple(
        None if action.name == TRANSFER else carry_out(tools, branch, action.name, action.arguments)
        for action in actions
    )
    digest = branch.digest()
    return Replay(digest, observations, digest != tables.digest())
