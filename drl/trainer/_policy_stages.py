"""The stages of `reward_then_policy`: which parts each gets, and in which folder it runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from drl.dataset.base import Dataset, SessionDataset
from drl.errors import ConfigError
from drl.llm.base import LLM
from drl.reward.base import Reward
from drl.runtime.config import build_as
from drl.runtime.run_dir import ADAPTER_OF_RUN, RunDir
from drl.runtime.seeds import derive
from drl.trainer._policy_units import unit_of
from drl.trainer._rollouts import roll_out
from drl.trainer._session_halves import HalfOfSessions
from drl.trainer._stages import for_evaluation, run_stage
from drl.trainer._turn_model_nodes import with_model
from drl.trainer.base import Parts, Trainer, chosen
from drl.types import JSON, Task

_EVALUATE = "drl.trainer.evaluate.EvaluateTrainer"
"""What does the same as a run of its own; the folder of a stage says that it was started so."""

_UNITS = "units.json"

RewardStage = Literal["reward_model", "judge"]


@dataclass(frozen=True, slots=True)
class Stages:
    """The folders of a run's stages, and the parts that each of them gets.

    `parts` are those of the whole run, whose folder is `folder`. With `halves` the two reward
    models learn from different training conversations.
    """

    parts: Parts
    folder: Path
    halves: bool

    @property
    def reward_model(self) -> Path:
        """The reward that the policy learns from."""
        return self.folder / "stage-1" / "reward_model"

    @property
    def judge(self) -> Path:
        """The reward that it never sees."""
        return self.folder / "stage-2" / "judge"

    @property
    def learn(self) -> Path:
        """The policy, with a folder for each update after which it was evaluated."""
        return self.folder / "stage-3" / "learn"

    @property
    def draws(self) -> Path:
        """Many replies of the start in the contexts that choose."""
        return self.folder / "stage-4" / "draws"

    def test(self, who: Literal["start", "chosen"]) -> Path:
        """Replies in the contexts that report."""
        return self.folder / "stage-5" / who

    def updates(self) -> list[int]:
        """After which updates the policy was evaluated."""
        found = self.learn.glob("update-*/evaluate/summary.json")
        return sorted(int(path.parents[1].name.removeprefix("update-")) for path in found)

    def evaluated(self, update: int) -> Path:
        """The replies of the policy after so many updates."""
        return self.learn / f"update-{update}" / "evaluate"

    def adapter(self, update: int) -> Path | None:
        """The adapter of the policy after so many updates; None at the start."""
        return self.learn / f"update-{update}" / ADAPTER_OF_RUN if update else None

    def learn_reward(self, stage: RewardStage, trainer: Trainer) -> Mapping[str, JSON]:
        """Train one of the two reward models; gives its summary."""
        parts = self._reward_parts(stage)
        folder = self.reward_model if stage == "reward_model" else self.judge
        return run_stage(parts, folder, lambda run_dir: trainer.run(parts, run_dir))

    def find_units(self, tasks: Sequence[Task]) -> None:
        """Write down how far either model's rewards spread over human replies, once.

        Raises:
            DataError: as `unit_of`.
        """
        from drl.turn_reward.model import TurnRewardModel

        if not (self.folder / _UNITS).exists():
            folders = {"reward_model": self.reward_model, "judge": self.judge}
            units = {
                stage: unit_of(TurnRewardModel.load(folder), tasks)
                for stage, folder in folders.items()
            }
            RunDir(self.folder).write_json(_UNITS, units)

    def unit(self, stage: RewardStage) -> float:
        """The deviation of a model's rewards over human replies, once it is known."""
        return float(json.loads((self.folder / _UNITS).read_text(encoding="utf-8"))[stage])

    def learn_policy(self, trainer: Trainer) -> Mapping[str, JSON]:
        """Train the policy on the first reward model; gives its summary."""
        parts = self._learning_parts()
        return run_stage(parts, self.learn, lambda run_dir: trainer.run(parts, run_dir))

    def answer(
        self, folder: Path, update: int, trials: int, split: str | None = None
    ) -> Mapping[str, JSON]:
        """Let the policy after so many updates reply, in contexts of eval_dataset.

        Args:
            folder: one of the stages.
            update: 0 is the start.
            trials: replies in each context.
            split: the part of the conversations, where it is another than that of eval_dataset.
        """
        parts = for_evaluation(self._learning_parts())
        trainer = {"_target_": _EVALUATE, "trials": trials}
        config = {**parts.config, "trainer": trainer}
        adapter = self.adapter(update)
        if adapter is not None:
            node = {**_node(parts, "llm"), "adapter": str(adapter)}
            config["llm"] = node
            parts = replace(parts, llm=build_as("llm", node, LLM))
        if split is not None:
            config["dataset"] = self.dataset_node(split)
            parts = replace(parts, dataset=self.dataset_of(split))
        parts = replace(parts, config=config)
        return run_stage(parts, folder, lambda run_dir: roll_out(parts, run_dir, trials))

    def dataset_node(self, split: str) -> Mapping[str, JSON]:
        """The evaluation's dataset with another part of its conversations."""
        return {**_node(self.parts, "eval_dataset"), "split": split}

    def dataset_of(self, split: str) -> Dataset:
        """The same, built."""
        return build_as("eval_dataset", self.dataset_node(split), Dataset)

    def _reward_parts(self, stage: RewardStage) -> Parts:
        """One model sees the first half and has the seed of the run, the judge has others."""
        whole = self.parts.config["trainer"]
        assert isinstance(whole, Mapping), "launch built the trainer from it"
        seed = self.parts.seed
        config: dict[str, JSON] = {**self.parts.config, "trainer": whole[stage]}
        dataset = chosen(self.parts.dataset)
        assert isinstance(dataset, SessionDataset), "checked at the start"
        if stage == "judge":
            config["seed"] = derive("judge", seed) % 2**31
        if self.halves:
            half = ("reward_model", "judge").index(stage)
            config["half"] = half
            dataset = HalfOfSessions(whole=dataset, half=half, seed=seed)
        return replace(self.parts, config=config, dataset=dataset)

    def _learning_parts(self) -> Parts:
        """The parts of the learner: its trainer, and the reward with the model of the run."""
        whole = self.parts.config["trainer"]
        assert isinstance(whole, Mapping), "launch built the trainer from it"
        unit = self.unit("reward_model")
        node = with_model(self.parts.config["reward"], self.reward_model, unit)
        assert isinstance(node, Mapping), "launch built the reward from it"
        reward = build_as("reward", node, Reward)
        has_own_score = self.parts.config.get("score") is not None
        return replace(
            self.parts,
            config={**self.parts.config, "trainer": whole["learn"], "reward": node},
            reward=reward,
            score=self.parts.score if has_own_score else reward,
        )


def _node(parts: Parts, key: str) -> Mapping[str, JSON]:
    node = parts.config.get(key)
    if not isinstance(node, Mapping):
        raise ConfigError(f"{key} is not chosen; add {key}=NAME")
    return node
