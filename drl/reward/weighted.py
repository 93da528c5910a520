"""Several rewards as one, each with a weight."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from drl.environment.base import Environment
from drl.errors import ConfigError
from drl.llm.base import LLM
from drl.reward.base import Judgement, Reward
from drl.types import JSON, RewardEvent, Task, Turn


@dataclass(kw_only=True)
class WeightedReward(Reward):
    """Pays what each reward pays times its weight; the events keep their sources.

    A goal is closed as soon as one of the rewards closes it; those that know no goals leave all
    open. The grade is the weighted sum, and unscored if one of the grades is.
    """

    rewards: dict[str, Reward]
    weights: dict[str, float]

    def __post_init__(self) -> None:
        """Check that each reward has a weight."""
        self.uses_llm = any(reward.uses_llm for reward in self.rewards.values())
        self.pays_turns = any(reward.pays_turns for reward in self.rewards.values())
        self.closes_goals = any(reward.closes_goals for reward in self.rewards.values())
        self.sums_up = all(reward.sums_up for reward in self.rewards.values())
        if not self.rewards:
            raise ConfigError(
                "reward.rewards={} names no reward; add +reward@reward.rewards.NAME=OPTION and "
                "+reward.weights.NAME=NUMBER"
            )
        for name in self.rewards.keys() - self.weights.keys():
            raise ConfigError(f"reward.weights has none for {name}; add +reward.weights.{name}=1.0")
        for name, weight in self.weights.items():
            if name not in self.rewards:
                raise ConfigError(
                    f"reward.weights.{name}={weight} belongs to no reward; known: "
                    f"{', '.join(self.rewards)}"
                )
            if not math.isfinite(weight):
                raise ConfigError(f"reward.weights.{name}={weight} must be finite; use a number")

    @property
    def version(self) -> str:
        """The versions of its rewards."""
        return ", ".join(reward.version for reward in self.rewards.values() if reward.version)

    def check_task(self, task: Task) -> None:
        """Refuse a task that one of them cannot grade.

        Raises:
            RewardError, DataError: as that one says it.
        """
        for reward in self.rewards.values():
            reward.check_task(task)

    async def judge(
        self,
        task: Task,
        environment: Environment,
        before: Sequence[Turn],
        turn: Turn,
        open_goals: tuple[int, ...],
        llm: LLM,
    ) -> Judgement:
        """What the turn earned with each, in their order."""
        events: list[RewardEvent] = []
        unscored: list[Mapping[str, JSON]] = []
        still_open = set(open_goals)
        for name, reward in self.rewards.items():
            judgement = await reward.judge(task, environment, before, turn, open_goals, llm)
            weight = self.weights[name]
            events += [replace(event, amount=weight * event.amount) for event in judgement.events]
            unscored += judgement.unscored
            still_open.intersection_update(judgement.open_goals)
        left = tuple(goal for goal in open_goals if goal in still_open)
        return Judgement(tuple(events), left, tuple(unscored))

    async def grade(
        self, task: Task, environment: Environment, dialogue: Sequence[Turn], llm: LLM
    ) -> float | None:
        """The weighted sum of the grades."""
        total = 0.0
        for name, reward in self.rewards.items():
            grade = await reward.grade(task, environment, dialogue, llm)
            if grade is None:
                return None
            total += self.weights[name] * grade
        return total
