"""`drl resample` on real tasks, as people meet it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("DRL_DATA", "data")).absolute()
DRL = [sys.executable, "-c", "from drl.cli.main import main; main()"]


def drl(*arguments: object, cwd: Path = ROOT) -> subprocess.CompletedProcess:
    command = [*DRL, *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True)


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """A search over three tasks."""
    folder = tmp_path_factory.mktemp("run")
    overrides = ["+experiment=toolwoz_josh", "+debug=tiny", f"hydra.run.dir={folder}"]
    command = [sys.executable, "run.py", *overrides, f"data_dir={DATA}"]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return folder


def test_labels_of_real_branches_get_a_chance_and_the_trees_stay(run):
    trees = (run / "rollouts.jsonl").read_bytes()
    done = drl("resample", run, "--continuations", 4, "--max-nodes", 3)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "label error, censored" in done.stdout
    assert (run / "rollouts.jsonl").read_bytes() == trees
    (folder,) = run.glob("resample-*")
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["n_places_drawn"] == 9
    assert summary["labels"]["golden"]["n_broken"] == 0
    branches = [json.loads(line) for line in (folder / "branches.jsonl").read_text().splitlines()]
    assert len(branches) >= 2 * 9
    assert all(line["tries"] == (0 if line["over"] else 4) for line in branches)

    kept = (folder / "resample.jsonl").read_bytes()
    again = drl("resample", run, "--continuations", 4, "--max-nodes", 3)
    assert again.returncode == 0
    assert (folder / "resample.jsonl").read_bytes() == kept


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--conf", "nowhere"], "--conf nowhere: there is no nowhere/config.yaml"),
        (["--max-nodes", "some"], "trainer.max_nodes='some' must be int | None"),
        (["--continuations", "0"], "trainer.continuations=0 must be at least 1"),
        (["calls.limit=1"], "calls.limit=1 is not a setting of"),
        (["limit"], "limit is not known; settings: name, seed"),
    ],
)
def test_a_mistake_is_one_clear_line(run, arguments, message):
    done = drl("resample", run, *arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_another_agent_is_refused_before_anything_is_written(run):
    files = sorted(run.iterdir())
    done = drl("resample", run, "agent.temperature=0.5", "--seed", 9)
    assert "made with another config (agent.temperature differ)" in done.stderr
    assert sorted(run.iterdir()) == files


def test_a_folder_that_is_no_run_is_refused_with_the_runs_there_are(tmp_path, run):
    known = tmp_path / "outputs" / "study" / "abc"
    known.mkdir(parents=True)
    (known / "rollouts.jsonl").touch()
    done = drl("resample", tmp_path / "gone", cwd=tmp_path)
    assert done.returncode == 2
    assert "gone does not exist; the newest runs with rollouts: outputs/study/abc" in done.stderr
    assert "has no .hydra/config.yaml and no rollouts" in drl("resample", tmp_path).stderr
