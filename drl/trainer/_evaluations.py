"""Evaluations of a policy between its updates, each a run of its own below the training's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from drl.errors import ConfigError
from drl.evaluation.comparison import Comparison, compare_all
from drl.evaluation.run_result import read_result
from drl.llm.base import LLM
from drl.runtime.config import build_as
from drl.trainer._rollouts import roll_out
from drl.trainer._stages import for_evaluation, headline, run_stage
from drl.trainer.base import Parts
from drl.types import JSON

_STAGE = "evaluate"
_TRAINER = "drl.trainer.evaluate.EvaluateTrainer"
"""What does the same as a run of its own; an evaluation's folder says that it was started so."""


@dataclass(frozen=True, slots=True)
class Evaluations:
    """What the policy does alone after so many updates, each task tried `trials` times.

    With 0 trials nothing is evaluated. `parts` are the training's; `folder` is its own.
    """

    trials: int
    parts: Parts
    folder: Path

    def check(self) -> None:
        """Refuse what cannot be evaluated, before anything is learned.

        Raises:
            ConfigError: there is nothing to evaluate on.
        """
        for part, name in (("eval_dataset", "dataset"), ("eval_rollout", "rollout")):
            if self.trials and self.parts.config.get(part) is None:
                raise ConfigError(
                    f"{part} is not chosen, but trainer.evaluate_trials={self.trials}; add "
                    f"{name}@{part}=NAME, or set trainer.evaluate_trials=0 to leave it out"
                )

    def place(self, update: int) -> Path:
        """The folder for what belongs to the policy after so many updates."""
        return self.folder / f"update-{update}"

    def run(self, update: int, changes: Mapping[str, JSON]) -> None:
        """Evaluate, unless it is done already.

        Args:
            update: how many updates made the policy.
            changes: of the node `llm`, which make its model that policy.
        """
        folder = self.place(update) / _STAGE
        if not self.trials or _is_over(folder):
            return
        parts = for_evaluation(self.parts)
        model = parts.config["llm"]
        assert isinstance(model, Mapping), "launch built the model from it"
        node = {**model, **changes}
        trainer = {"_target_": _TRAINER, "trials": self.trials}
        config = {**parts.config, "trainer": trainer, "llm": node}
        parts = replace(parts, config=config, llm=build_as("llm", node, LLM))
        run_stage(parts, folder, lambda run_dir: roll_out(parts, run_dir, self.trials))

    def updates(self) -> list[int]:
        """After which updates there is one, in order."""
        done = self.folder.glob(f"update-*/{_STAGE}/summary.json")
        return sorted(int(path.parents[1].name.removeprefix("update-")) for path in done)

    def headlines(self) -> list[dict[str, JSON]]:
        """What a table needs of each."""
        folders = [self.place(update) / _STAGE for update in self.updates()]
        return [headline(json.loads((f / "summary.json").read_text())) for f in folders]

    def against_start(self) -> list[Comparison]:
        """All but the first held against the first, paired by task."""
        results = [read_result(self.place(update) / _STAGE) for update in self.updates()]
        return compare_all(results[0], results[1:]) if len(results) > 1 else []


def _is_over(folder: Path) -> bool:
    """Whether an evaluation came to its end; one that was stopped has a summary too."""
    file = folder / "summary.json"
    if not file.exists():
        return False
    summary = json.loads(file.read_text())
    return (
        "stopped" not in summary and summary["n_errors"] < summary["n_tasks"] * summary["n_trials"]
    )
