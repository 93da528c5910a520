"""Trees for learning: rolls out every task once and keeps all of it."""

from collections.abc import Mapping
from dataclasses import dataclass

from rich.console import Console

from drl.errors import ConfigError
from drl.evaluation.console import print_summary
from drl.runtime.run_dir import RunDir
from drl.trainer._rollouts import NEEDS, roll_out
from drl.trainer.base import Parts, Trainer
from drl.types import JSON


@dataclass(kw_only=True)
class CollectTrainer(Trainer):
    """Collects `trials` trees per task."""

    needs = NEEDS

    trials: int

    def __post_init__(self) -> None:
        """Check the settings."""
        if self.trials < 1:
            raise ConfigError(f"trainer.trials={self.trials} must be at least 1; raise it")

    def run(self, parts: Parts, run_dir: RunDir) -> Mapping[str, JSON]:
        """Roll out, then say where the trees are."""
        summary = roll_out(parts, run_dir, self.trials)
        print_summary(summary, details=False)
        Console(highlight=False, soft_wrap=True).print(
            f"Trees: {run_dir.path / 'rollouts.jsonl'}\nReport: {run_dir.path / 'report.html'}\n"
            f"Open it with: drl view {run_dir.path}",
            markup=False,
        )
        return summary
