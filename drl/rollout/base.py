"""A rollout: how dialogues are grown for one task, from one alone to a search tree.

Rollouts hold settings only; the participants come with the `Cast`. To add one, write
`drl/rollout/<name>.py` with a final `Rollout` and `conf/rollout/<name>.yaml`;
`tests/contracts/test_rollout.py` then tests it without further work.
"""

from abc import ABC, abstractmethod
from asyncio import Semaphore
from dataclasses import dataclass

from drl.agent.base import Agent
from drl.environment.base import Environment
from drl.llm.base import LLM
from drl.reward.base import Reward
from drl.tree.dialogue_tree import DialogueTree
from drl.types import Task
from drl.user_simulator.base import UserSimulator


@dataclass(frozen=True, slots=True)
class Cast:
    """Who plays, in which world, for which rewards, under which run seed.

    `reward` steers a search; `score` grades what came of it. `limit` bounds the participants'
    moves that are in flight at once, over all running tasks; those of models are bounded where
    they are asked (`drl.calls`), so that siblings meet there. `llm` is the agent's.
    """

    agent: Agent
    user_simulator: UserSimulator
    environment: Environment
    reward: Reward
    score: Reward
    seed: int
    limit: Semaphore
    llm: LLM
    user_llm: LLM


class Rollout(ABC):
    """Grows the dialogue tree of one (task, trial)."""

    is_search: bool
    """Whether the result was chosen by looking at rewards. Search is never reported as policy."""

    concurrency: int
    """Moves of participants in flight at once, over all running tasks."""

    @abstractmethod
    def check(self, agent: Agent) -> None:
        """Refuse an agent that does not suit this rollout; called before a run starts.

        Raises:
            ConfigError: a search with an agent that never varies, say.
        """

    @abstractmethod
    async def run(self, task: Task, trial: int, cast: Cast) -> DialogueTree:
        """All dialogues of one attempt, graded."""
