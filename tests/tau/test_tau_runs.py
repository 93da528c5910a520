"""tau-bench in whole runs: a floor beside the score, groups apart, versions that never mix."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from cli.running import DATA, ROOT, drl, error_of

pytestmark = pytest.mark.slow

RUN = (
    *("dataset=tau_bench", "environment=tau", "agent=silent", "user_simulator=facts"),
    *("reward=goal_api", "reward@score=db_state", "rollout=single", "trainer=evaluate"),
)


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> Path:
    """Runs on both forms whose agent does nothing."""
    folder = tmp_path_factory.mktemp("runs")
    ids = "dataset.ids=[retail-test-0,retail-test-10,retail-test-25,retail-test-50]"
    for form in ("tau1", "tau1_old"):
        overrides = [*RUN, ids, f"dataset.data={form}", f"data_dir={DATA}"]
        command = [sys.executable, "run.py", *overrides, f"hydra.run.dir={folder / form}"]
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return folder


def summary(run: Path):
    return json.loads((run / "summary.json").read_text())


def test_doing_nothing_scores_the_floor_that_stands_beside_it(runs):
    # tasks 10, 25 and 50 leave the database as it is and ask for no words; task 0 does not
    told = summary(runs / "tau1")
    assert told["floor"] == told["mean_reward"]["value"] == 0.75
    assert told["per_group"].keys() <= {"user: seen", "user: unseen"}
    assert sum(group["n"] for group in told["per_group"].values()) == 4
    assert told["data_version"].startswith("tau1-wheel-")


def test_runs_on_different_forms_never_stand_in_one_table(runs):
    done = drl("compare", str(runs / "tau1"), str(runs / "tau1_old"))
    line = error_of(done)
    versions = [summary(runs / form)["data_version"] for form in ("tau1", "tau1_old")]
    assert versions[0] in line
    assert versions[1] in line
    assert "versions never mix in one table" in line


def test_a_run_folder_takes_up_no_other_form(runs):
    overrides = [*RUN, "dataset.data=tau1_old", f"data_dir={DATA}"]
    command = [sys.executable, "run.py", *overrides, f"hydra.run.dir={runs / 'tau1'}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "dataset.data" in done.stderr
