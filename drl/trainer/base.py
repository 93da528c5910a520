"""A trainer: the verb of a run. It gets the parts that the config chose and a run folder.

To add one, write `drl/trainer/<name>.py` with a final `Trainer` and `conf/trainer/<name>.yaml`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from drl.agent.base import Agent
from drl.calls.settings import CallSettings
from drl.credit.base import Credit
from drl.dataset.base import Dataset
from drl.environment.base import Environment
from drl.llm.base import LLM
from drl.miner.base import Miner
from drl.reward.base import Reward
from drl.rollout.base import Rollout
from drl.runtime.run_dir import RunDir
from drl.types import JSON
from drl.user_simulator.base import UserSimulator


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What the config groups gave; a group that was not chosen is None.

    `config` is the resolved config. `llm` is the agent's model; equal model nodes are one object.
    Parts with `eval_` before their name stand in for the others where a trainer evaluates.
    """

    config: Mapping[str, JSON]
    calls: CallSettings
    dataset: Dataset | None = None
    environment: Environment | None = None
    agent: Agent | None = None
    user_simulator: UserSimulator | None = None
    reward: Reward | None = None
    score: Reward | None = None
    credit: Credit | None = None
    rollout: Rollout | None = None
    miner: Miner | None = None
    eval_dataset: Dataset | None = None
    eval_user_simulator: UserSimulator | None = None
    eval_rollout: Rollout | None = None
    llm: LLM | None = None
    user_llm: LLM | None = None
    judge_llm: LLM | None = None

    @property
    def name(self) -> str:
        """What the run is called."""
        return str(self.config["name"])

    @property
    def seed(self) -> int:
        """The seed from which all others derive."""
        seed = self.config["seed"]
        assert isinstance(seed, int), "launch checked it"
        return seed


class Trainer(ABC):
    """Does the work of a run and sums it up."""

    keeps_trees: bool = False
    """Whether its folder holds a tree of every task when it is done."""

    takes_several_processes: bool = False
    """Whether it may run as several processes of one job, as accelerate launch starts them."""

    needs: tuple[str, ...]
    """Config groups without which this trainer cannot run; checked before anything is built."""

    def check_parts(self, parts: Parts) -> None:  # noqa: B027 most trainers take all parts
        """Refuse parts that do not go with its settings; called before anything is loaded.

        Raises:
            ConfigError: with what to choose instead.
        """

    @abstractmethod
    def run(self, parts: Parts, run_dir: RunDir) -> Mapping[str, JSON]:
        """Do the work; what it returns is also in `summary.json`. A second start goes on.

        Raises:
            KeyboardInterrupt: was asked to stop; everything finished so far is stored.
        """


_Part = TypeVar("_Part")


def chosen(part: _Part | None) -> _Part:
    """A part that the trainer's `needs` named: launch refused the run if it is missing."""
    assert part is not None, "every part that a trainer uses stands in its `needs`"
    return part
