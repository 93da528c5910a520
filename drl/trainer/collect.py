"""Trees for learning: rolls out every task once and keeps all of it."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from drl.evaluation.console import print_summary
from drl.runtime.run_dir import RunDir
from drl.trainer._rollouts import NEEDS, check_trials, roll_out
from drl.trainer.base import Parts, Trainer
from drl.tree.store import FILE_NAME
from drl.types import JSON


@dataclass(kw_only=True)
class CollectTrainer(Trainer):
    """Collects `trials` trees per task."""

    needs = NEEDS

    trials: int

    def __post_init__(self) -> None:
        """Check the settings."""
        check_trials(self.trials)

    def run(self, parts: Parts, run_dir: RunDir) -> Mapping[str, JSON]:
        """Roll out, then say where the trees are."""
        summary = roll_out(parts, run_dir, self.trials)
        print_summary(summary, details=False)
        folder = _from_here(run_dir.path)
        Console(highlight=False, soft_wrap=True).print(
            f"Trees:  {folder / FILE_NAME}\nReport: {folder / 'report.html'}\n"
            f"Open it with: {_from_here(Path(sys.executable).with_name('drl'))} view {folder}",
            markup=False,
        )
        return summary


def _from_here(path: Path) -> Path:
    """The path as a person in this folder would type it."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
