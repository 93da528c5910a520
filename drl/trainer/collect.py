"""Trees for learning: rolls out every task once and keeps all of it."""

from collections.abc import Mapping
from dataclasses import dataclass

from drl.evaluation.console import print_summary
from drl.runtime.run_dir import RunDir
from drl.runtime.settings import check_positive
from drl.trainer._rollouts import NEEDS, roll_out
from drl.trainer.base import Parts, Trainer
from drl.types import JSON


@dataclass(kw_only=True)
class CollectTrainer(Trainer):
    """Collects `trials` trees per task."""

    needs = NEEDS
    keeps_trees = True

    trials: int

    def __post_init__(self) -> None:
        """Check the settings."""
        check_positive("trainer", trials=self.trials)

    def run(self, parts: Parts, run_dir: RunDir) -> Mapping[str, JSON]:
        """Roll out, then say what came of it."""
        summary = roll_out(parts, run_dir, self.trials)
        print_summary(summary, run_dir.path, details=False)
        return summary
