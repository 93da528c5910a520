"""`drl resample` on real tasks, as people meet it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from cli.running import DATA, ROOT, drl, error_of


def search(folder: Path, *choices: str) -> Path:
    """A search over three tasks."""
    overrides = ["+experiment=toolwoz_josh", "+debug=tiny", *choices, f"hydra.run.dir={folder}"]
    command = [sys.executable, "run.py", *overrides, f"data_dir={DATA}"]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    return search(tmp_path_factory.mktemp("run"))


@pytest.mark.slow
def test_labels_of_real_branches_get_a_chance_and_the_trees_stay(run):
    trees = (run / "rollouts.jsonl").read_bytes()
    done = drl("resample", str(run), "--continuations", "4", "--max-nodes", "3")
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
    again = drl("resample", str(run), "--continuations", "4", "--max-nodes", "3")
    assert again.returncode == 0
    assert (folder / "resample.jsonl").read_bytes() == kept


@pytest.mark.slow
def test_calls_to_models_are_in_a_ledger_of_their_own_and_asked_once(tmp_path):
    agent, user = ("agent=react", "llm=scripted/react"), ("user_simulator=goal",)
    choices = (*agent, *user, "llm@user_llm=scripted/customer", "calls.cache=false")
    run = search(tmp_path, *choices)
    bill = (run / "calls.jsonl").read_bytes()
    assert drl("resample", str(run), "--continuations", "2").returncode == 0
    assert (run / "calls.jsonl").read_bytes() == bill
    (own,) = run.glob("resample-*/calls.jsonl")
    asked = own.read_bytes()
    assert {json.loads(line)["purpose"] for line in asked.splitlines()} == {"agent", "user"}
    assert drl("resample", str(run), "--continuations", "2").returncode == 0
    assert own.read_bytes() == asked


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--conf", "nowhere"], "--conf nowhere: there is no nowhere/config.yaml"),
        (["--max-nodes", "some"], "trainer.max_nodes='some' must be int or null"),
        (["--continuations", "0"], "trainer.continuations=0 must be at least 1"),
        (["agent.temperature=0.5"], "made with another config (agent.temperature differ)"),
        (["calls.limit=1"], "calls.limit=1 is not a setting of"),
        (["limit"], "limit is not known; settings: name, seed"),
        (["+calls.budget_usd=0"], "calls.budget_usd=0 must be positive"),
    ],
)
def test_a_mistake_is_one_clear_line_before_anything_is_written(run, arguments, message):
    files = sorted(run.iterdir())
    assert message in error_of(drl("resample", str(run), *arguments))
    assert sorted(run.iterdir()) == files


def test_a_folder_that_is_no_run_is_refused_with_the_runs_there_are(tmp_path):
    stopped = '{"stopped": "the budget is spent"}'
    for name, summary in (("abc", "{}"), ("broken", '{"mean_reward": null}'), ("cut", stopped)):
        known = tmp_path / "outputs" / "study" / name
        known.mkdir(parents=True)
        (known / "rollouts.jsonl").touch()
        (known / "summary.json").write_text(summary)
    error = error_of(drl("resample", "gone", cwd=tmp_path))
    assert error.endswith("gone does not exist; the newest runs with rollouts: outputs/study/abc")
    error = error_of(drl("resample", str(tmp_path)))
    assert "has no rollouts.jsonl and no provenance.json" in error
