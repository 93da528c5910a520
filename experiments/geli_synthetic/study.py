"""What of GELI can be seen where the turn rewards are known? (see README.md here)

    python -m experiments.geli_synthetic.study [--small]

Every stage is a run of run.py below outputs/. A second start goes on where the first was stopped;
remove outputs/geli_synthetic to start anew. Writes `results.json` beside this file (with --small
below outputs/, so that the study's own stays) and prints the tables.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Final

from experiments.geli_synthetic.stages import CUT, DRAWS, SMALL, WHOLE, Study
from experiments.geli_synthetic.table import MEASURES, order, tables
from experiments.runs import ROOT, summary_of

HERE: Final = Path(__file__).parent
KEPT: Final = (*MEASURES, "constant_mse", "local_difference", "r2_session", "auroc_positive")


def main() -> None:
    """Run all stages, then write and print what they gave."""
    parser = argparse.ArgumentParser(description="Run the study, or go on with it.")
    parser.add_argument("--small", action="store_true", help="minutes, to see that it runs")
    is_small = parser.parse_args().small
    started = time.perf_counter()
    study = Study(SMALL if is_small else WHOLE)
    summaries = {folder.name: summary_of(folder) for folder in map(_run, _stages(study))}
    results = {run: figures(summary) for run, summary in summaries.items()}
    record = {
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
        "size": asdict(study.size),
        "seconds_of_this_start": round(time.perf_counter() - started),
        "held_out": {run: summary["held_out"] for run, summary in summaries.items()},
        "results": results,
        "order": order(results),
        "controls": {run: summary["controls"] for run, summary in summaries.items()},
        "warnings": {run: summary["warnings"] for run, summary in summaries.items()},
        "commands": study.runs.commands,
    }
    folder = ROOT / study.size.folder if is_small else HERE
    (folder / "results.json").write_text(json.dumps(record, indent=1) + "\n")
    print(tables(results))


def figures(summary: Mapping[str, object]) -> dict[str, dict[str, dict[str, float]]]:
    """The figures of all arms of a run, of floors and of the ceiling, by name and measure."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for kind in ("methods", "shuffled"):
        arms = summary[kind]
        assert isinstance(arms, dict)
        found |= {name: _kept(arm["measures"]) for name, arm in arms.items()}
    floors = summary["baselines"]
    assert isinstance(floors, dict)
    return found | {name: _kept(measures) for name, measures in floors.items()}


def _stages(study: Study) -> list[Callable[[], Path]]:
    """The stages in order; what all others rest on comes first."""
    return [
        study.main,
        *(lambda number=number: study.draws(number) for number in DRAWS),
        lambda: study.draws(4, unbiased=True),
        lambda: study.alone("rrd"),
        lambda: study.alone("li"),
        *(lambda number=number: study.of_size(number) for number in study.size.train_sizes),
        *(lambda signal=signal: study.cut(signal) for signal in CUT),
        study.reading,
        study.tuned,
        lambda: study.on_tuned(starts=False),
        lambda: study.on_tuned(starts=True),
    ]


def _run(stage: Callable[[], Path]) -> Path:
    return stage()


def _kept(measures: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """What is reported of an arm, to four digits."""
    return {
        name: {key: float(f"{measures[name][key]:.4g}") for key in ("value", "low", "high")}
        for name in KEPT
        if name in measures
    }


if __name__ == "__main__":
    main()
