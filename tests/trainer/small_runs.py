"""Small runs of scripted participants: their tasks, their parts, and starting them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from scripted import CountingWorld, ScriptedUser, task_of

from drl.agent.base import Agent
from drl.calls.settings import CallSettings
from drl.dataset.base import Dataset
from drl.environment.base import Environment
from drl.llm.base import LLM
from drl.reward.goal_api import GoalApiReward
from drl.rollout.base import Rollout
from drl.runtime.run_dir import RunDir
from drl.trainer.base import Parts, Trainer
from drl.types import JSON
from drl.user_simulator.base import UserSimulator

NO_CALLS = CallSettings(budget_usd=None, budget_tokens=None, cache=False, prices={})


@dataclass
class NumberedTasks(Dataset):
    """Tasks "0", "1", ... with goals of these kinds."""

    count: int
    kinds: tuple[str, ...]
    version: str = "numbered-1"

    def load(self):
        return [task_of(*self.kinds, id=str(number)) for number in range(self.count)]


def small_parts(
    agent: Agent,
    rollout: Rollout,
    tasks: NumberedTasks,
    *,
    user: UserSimulator | None = None,
    world: Environment | None = None,
    folder: Path = Path(),
    calls: CallSettings = NO_CALLS,
    llm: LLM | None = None,
) -> Parts:
    """The parts of a run of these; what it may keep lies in `folder`."""
    node = {"_target_": "drl.x.y.Z"}
    config: dict[str, JSON] = {"name": "x", "seed": 0, "data_dir": str(folder)}
    config |= dict.fromkeys(("agent", "user_simulator", "reward", "rollout"), node)
    reward = GoalApiReward(judge_against="task")
    return Parts(
        config=config,
        calls=calls,
        dataset=tasks,
        environment=world or CountingWorld(),
        agent=agent,
        user_simulator=user or ScriptedUser(),
        reward=reward,
        score=reward,
        rollout=rollout,
        llm=llm,
    )


def start(trainer: Trainer, parts: Parts, folder: Path) -> Mapping[str, JSON]:
    """Run, or go on with a run."""
    with RunDir(folder) as run_dir:
        run_dir.claim(parts.config)
        return trainer.run(parts, run_dir)
