"""The experiments on tau-bench run end to end without a key, and do what can be said beforehand."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from cli.running import DATA, ROOT

from drl.tree.store import read_trees
from drl.types import StopReason

pytestmark = pytest.mark.slow


def run(folder: Path, experiment: str, *choices: str) -> dict:
    command = [sys.executable, "run.py", f"+experiment={experiment}", *choices]
    places = [f"hydra.run.dir={folder}", f"data_dir={DATA}"]
    subprocess.run([*command, *places], cwd=ROOT, check=True, capture_output=True)
    return json.loads((folder / "summary.json").read_text())


def test_the_search_reaches_goals_forks_and_is_graded_by_the_database(tmp_path):
    found = run(tmp_path, "tau_retail_josh", "dataset.limit=12")
    assert found["n_errors"] == found["n_unscored"] == 0
    assert found["label"].startswith("Search")
    assert found["floor"] == 0.0
    assert found["full_success"]["value"] > 0.9
    trees = list(read_trees(tmp_path / "rollouts.jsonl"))
    for tree in trees:
        for leaf in tree.leaves():
            if leaf.golden and leaf.score == 1.0:
                assert not leaf.open_goals
                assert leaf.stop in (StopReason.USER_ENDED, StopReason.AGENT_ENDED)
    assert any(leaf.stop is StopReason.COLLAPSED for tree in trees for leaf in tree.leaves())


@pytest.mark.parametrize(
    ("experiment", "numbers", "ceiling"),
    [
        # the last one of each asks for words, and has no goal that could tell them to the oracle
        ("tau_retail_eval", (0, 2, 10, 25, 24), 4 / 5),
        ("tau_airline_eval", (1, 8, 44), 2 / 3),
    ],
)
def test_an_oracle_that_does_not_err_scores_what_can_be_scored(
    tmp_path, experiment, numbers, ceiling
):
    domain = experiment.split("_")[1]
    ids = ",".join(f"{domain}-test-{number}" for number in numbers)
    found = run(tmp_path, experiment, "agent=oracle", f"dataset.ids=[{ids}]")
    assert found["label"] == "Ceiling: the agent is told the goals."
    chances = [estimate["value"] for estimate in found["pass_hat_k"].values()]
    assert chances == pytest.approx([ceiling] * 4)
    if domain == "retail":
        assert found["floor"] == pytest.approx(2 / 5)  # of 10 and 25 doing nothing is right
        assert found["per_group"]
    else:
        assert not found["per_group"]  # there is no training split to know customers from
