"""Search on real tasks: what it finds when the agent varies, and that it finds nothing when not."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DATA = os.environ.get("DRL_DATA", "data")


def summary_of(folder: Path, *overrides: str) -> dict:
    command = [
        sys.executable,
        "run.py",
        "+experiment=toolwoz_josh",
        "dataset.split=val",
        "dataset.limit=100",
    ]
    options = [f"data_dir={DATA}", f"hydra.run.dir={folder}", *overrides]
    done = subprocess.run([*command, *options], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "summary.json").read_text())


@pytest.mark.slow
def test_search_finds_what_single_tries_of_an_erring_agent_miss(tmp_path):
    single = summary_of(tmp_path / "single", "rollout=single")
    josh = summary_of(tmp_path / "josh")
    assert josh["mean_reward"]["low"] > single["mean_reward"]["high"]
    assert josh["full_success"]["low"] > single["full_success"]["high"]
    assert (single["search"], josh["search"]) == (False, True)


@pytest.mark.slow
def test_at_temperature_zero_search_gains_nothing(tmp_path):
    single = summary_of(tmp_path / "single", "agent=rule", "rollout=single")
    josh = summary_of(tmp_path / "josh", "agent=rule", "rollout.allow_greedy=true")
    assert josh["full_success"] == single["full_success"]
    assert josh["mean_reward"] == single["mean_reward"]
    assert josh["agent_calls"]["value"] > single["agent_calls"]["value"]
