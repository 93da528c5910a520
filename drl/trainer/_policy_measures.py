"""Measures the replies of stages, each set once: what is measured is kept beside the stages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from drl.dataset.base import SessionDataset
from drl.evaluation.reply_measures import sentiment_lexicon
from drl.runtime.run_dir import RunDir
from drl.trainer._online import temperature_of
from drl.trainer._policy_replies import Measured, Rulers, distances, keep, kept, said_in
from drl.trainer._policy_stages import Stages
from drl.trainer.base import Parts, chosen
from drl.types import Task


@dataclass
class Measuring:
    """Holds the models that measure; they are loaded when there is something to measure."""

    parts: Parts
    run_dir: RunDir
    stages: Stages

    def replies(self, folder: Path, tasks: Sequence[Task], update: int) -> Measured:
        """All that is known of the replies in a folder.

        Args:
            folder: of a stage.
            tasks: its contexts.
            update: which policy replied; 0 is the start.
        """
        name = f"measured-{'-'.join(folder.relative_to(self.stages.folder).parts)}.json"
        known = kept(self.run_dir, name)
        if known is not None:
            return known
        said, num_broken = said_in(folder, tasks)
        adapter = self.stages.adapter(update)
        kls = [0.0] * len(said)
        if adapter is not None and said:
            parts = self.parts
            agent, environment = chosen(parts.agent), chosen(parts.environment)
            temperature = temperature_of(parts, tasks[0])
            weights = chosen(parts.llm).weights()
            kls = distances(said, weights, adapter, agent, environment, temperature)
        measured = Measured(self._rulers.measure(said, kls), num_broken)
        keep(self.run_dir, name, measured)
        return measured

    @cached_property
    def _rulers(self) -> Rulers:
        from drl.evaluation.hidden_worth import hidden_worth
        from drl.turn_reward.model import TurnRewardModel

        dataset = chosen(self.parts.dataset)
        is_synthetic = isinstance(dataset, SessionDataset) and dataset.is_synthetic
        return Rulers(
            proxy=TurnRewardModel.load(self.stages.reward_model),
            judge=TurnRewardModel.load(self.stages.judge),
            proxy_unit=self.stages.unit("reward_model"),
            judge_unit=self.stages.unit("judge"),
            hidden=hidden_worth if is_synthetic else None,
            sentiment=sentiment_lexicon(),
        )
