"""A rollout: how dialogues are grown for one task, from one alone to a search tree.

Rollouts hold settings only; the participants come with the `Cast`. To add one, write
`drl/rollout/<name>.py` with a final `Rollout` and `conf/rollout/<name>.yaml`;
`tests/contracts/test_rollout.py` then tests it without further work.
"""

from abc import ABC, abstractmethod

from drl.agent.base import Agent
from drl.play.cast import Cast
from drl.tree.dialogue_tree import DialogueTree
from drl.types import Task


class Rollout(ABC):
    """Grows the dialogue tree of one (task, trial)."""

    is_search: bool
    """Whether the result was chosen by looking at rewards. Search is never reported as policy."""

    cuts_branches: bool
    """Whether branches are cut, or no more are tried, because of what others earned. The tree is
    then no fair sample of what the agent does, so means over it are biased."""

    max_steps: int
    """Agent turns in a dialogue at most."""

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
