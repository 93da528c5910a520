"""The worlds of tau-bench in memory: databases and tools of a domain, and its tasks."""

from dataclasses import dataclass, field

from drl.domains.tau.gold import Action, Gold, replay
from drl.domains.tau.tables import Tables
from drl.domains.tau.tools import Domain, Mode
from drl.types import Toolbox


@dataclass(frozen=True, eq=False)
class World:
    """One domain of one data version; `tables` is its untouched state, to be forked."""

    domain: Domain
    version: str
    tables: Tables = field(repr=False)
    toolbox: Toolbox = field(repr=False)


@dataclass(frozen=True, eq=False)
class Scene:
    """One task in its world; what `Task.world` holds.

    `is_seen` says that its customer occurs in training tasks too.
    """

    world: World = field(repr=False)
    index: int
    user_id: str
    instruction: str
    actions: tuple[Action, ...]
    outputs: tuple[str, ...]
    is_seen: bool = False
    golds: dict[Mode, Gold] = field(default_factory=dict, repr=False)
    """What the gold actions lead to, as far as it is known."""

    def gold(self, mode: Mode) -> Gold:
        """What the gold actions lead to; carried out the first time it is asked for."""
        if mode not in self.golds:
            world = self.world
            self.golds[mode] = replay(world.tables, world.domain, self.actions, mode).gold
        return self.golds[mode]
