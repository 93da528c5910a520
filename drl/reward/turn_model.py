"""What a trained turn reward model says of the agent's turns (trainer=reward_model).

It reads what was said, the task's opening included, in the very text format that it was trained in,
and nothing else: neither tool calls nor goals. Dialogues that are played side by side are scored in
batches.
"""

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from drl.environment.base import Environment
from drl.errors import ConfigError, RunError
from drl.llm.base import LLM
from drl.reward._said import is_said
from drl.reward._turn_scores import TurnScores
from drl.reward.base import Judgement, Reward
from drl.turn_reward.session import Utterance
from drl.types import RewardEvent, Task, Turn


@dataclass(kw_only=True)
class TurnModelReward(Reward):
    """Pays what the model gives, times `scale`.

    `model` is a finished run of trainer=reward_model, or a folder that holds a model. With
    `every_turn` each of the agent's turns is paid, and a dialogue's grade is the sum. Without it
    nothing is paid on the way, and the grade is what the last turn is worth.
    """

    model: str
    scale: float
    every_turn: bool

    def __post_init__(self) -> None:
        """Check the settings; the model itself is read when it is first needed."""
        self.pays_turns = self.every_turn
        if not math.isfinite(self.scale) or self.scale == 0.0:
            raise ConfigError(
                f"reward.scale={self.scale} must be finite and not 0; use 1 to take rewards as "
                "they are"
            )
        if not self.model:
            raise ConfigError("reward.model is empty; name a finished run of trainer=reward_model")

    @property
    def version(self) -> str:
        """A hash of the model and its encoder.

        Raises:
            ConfigError: there is no such model.
        """
        from drl.turn_reward.model_folder import model_version

        try:
            return f"turn-model-{model_version(Path(self.model))}"
        except RunError as error:
            raise ConfigError(f"reward.model={self.model}: {error}") from error

    async def judge(
        self,
        task: Task,
        environment: Environment,
        before: Sequence[Turn],
        turn: Turn,
        open_goals: tuple[int, ...],
        llm: LLM,
    ) -> Judgement:
        """What the turn earned, once the agent has spoken; goals stay as they are.

        Raises:
            ConfigError: the model or its encoder cannot be had.
        """
        if not self.every_turn or not is_said(turn):
            return Judgement((), open_goals)
        amount = await self._amount(task, (*before, turn))
        return Judgement((RewardEvent(amount, "turn_model"),), open_goals)

    async def grade(
        self, task: Task, environment: Environment, dialogue: Sequence[Turn], llm: LLM
    ) -> float | None:
        """What its turns, or the last of them, are worth; unscored when it broke.

        Raises:
            ConfigError: as `judge`.
        """
        if any(turn.failure for turn in dialogue):
            return None
        ends = [end for end, turn in enumerate(dialogue, start=1) if is_said(turn)]
        paid = [
            self._amount(task, dialogue[:end]) for end in (ends if self.every_turn else ends[-1:])
        ]
        return math.fsum(await asyncio.gather(*paid))

    async def _amount(self, task: Task, said: Sequence[Turn]) -> float:
        """What the last of these turns is paid."""
        utterances = [
            Utterance(turn.role, turn.text)
            for turn in (*task.opening, *said)
            if turn.text is not None  # a part that ends without words belongs to the next
        ]
        return self.scale * await self._scores.reward(utterances, len(utterances) - 1)

    @cached_property
    def _scores(self) -> TurnScores:
        from drl.turn_reward.model import TurnRewardModel

        try:
            return TurnScores(TurnRewardModel.load(Path(self.model)).rewards_of)
        except RunError as error:
            raise ConfigError(f"reward.model={self.model}: {error}") from error
