"""The stages of a study: each a run of run.py in a folder of its own, which survives kills."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]


@dataclass
class Runs:
    """The runs of a study, below one folder, which is named from the repository's root on."""

    folder: str
    commands: dict[str, str] = field(default_factory=dict)
    """What was started, by stage."""

    def place(self, stage: str) -> str:
        """Where a stage lies, named from the root on: so overrides and commands name it."""
        return f"{self.folder}/{stage}"

    def run(self, stage: str, *overrides: str) -> Path:
        """Start or go on with one run; a run that is over is left alone. Gives its folder."""
        self.commands[stage] = " ".join(["python", "run.py", *overrides])
        folder = ROOT / self.place(stage)
        if not (folder / "summary.json").exists():
            where = f"hydra.run.dir={self.place(stage)}"
            subprocess.run([sys.executable, "run.py", *overrides, where], cwd=ROOT, check=True)
        return folder


def summary_of(folder: Path) -> dict[str, Any]:
    """What a run says of itself."""
    return json.loads((folder / "summary.json").read_text())
