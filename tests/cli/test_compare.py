"""`drl compare` on real runs, as people meet it."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cli.running import DATA, ROOT, drl, error_of


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> Path:
    """Runs of a weak and of a steady agent on forty tasks, and one with another customer."""
    folder = tmp_path_factory.mktemp("runs")
    choices = {
        "weak": ["agent=rule/erring"],
        "steady": ["agent=rule"],
        "stranger": ["agent=rule", "user_simulator.phrasing=heldout"],
    }
    for name, chosen in choices.items():
        overrides = ["+experiment=toolwoz_eval", "dataset.limit=40", *chosen]
        command = ["run.py", *overrides, f"hydra.run.dir={folder / name}", f"data_dir={DATA}"]
        subprocess.run([sys.executable, *command], cwd=ROOT, check=True, capture_output=True)
    return folder


@pytest.mark.slow
def test_a_better_agent_wins_and_another_customer_forbids_it(runs):
    weak, steady, stranger = (str(runs / name) for name in ("weak", "steady", "stranger"))
    before = sorted(path.relative_to(runs) for path in runs.rglob("*"))
    done = drl("compare", weak, steady, stranger, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    first, second = (json.loads(line) for line in done.stdout.splitlines())
    assert first["winner"] == steady
    assert (first["n_tasks"], first["n_tests"]) == (40, 4)
    assert first["settings_that_differ"] == ["agent.temperature"]
    # measures that no reward sees
    assert {"requests_told", "invented_values", "num_turns"} <= set(first["measures"])
    gap = first["measures"]["mean_reward"]
    means = {
        name: json.loads((runs / name / "summary.json").read_text())["mean_reward"]["value"]
        for name in ("weak", "steady")
    }
    assert gap["difference"]["value"] == pytest.approx(means["steady"] - means["weak"])
    assert (second["winner"], second["comparable"]) == (None, False)
    assert second["reasons"] == ["user_simulator differs (user_simulator.phrasing)"]

    table = drl("compare", weak, steady)
    assert table.returncode == 0
    assert f"{steady} is better than {weak}: mean reward by" in table.stdout
    assert "40 tasks scored in both, 1 (base) and 1 (other) trials a task" in table.stdout
    assert sorted(path.relative_to(runs) for path in runs.rglob("*")) == before


@pytest.mark.slow
def test_an_unfinished_run_is_compared_as_far_as_it_went(runs, tmp_path):
    half = tmp_path / "half"
    shutil.copytree(runs / "steady", half)
    lines = (half / "rollouts.jsonl").read_bytes().splitlines(keepends=True)
    (half / "rollouts.jsonl").write_bytes(b"".join(lines[:25]))
    (half / "summary.json").unlink()
    done = drl("compare", str(runs / "weak"), str(half))
    assert done.returncode == 0
    assert "25 tasks scored in both" in done.stdout
    assert f"{half} is not finished (15 rollouts are missing; start its" in done.stdout
    assert "Not comparable, so no winner" in done.stdout


def test_what_cannot_be_compared_is_one_clear_line(tmp_path):
    assert "nothing does not exist; the newest runs with rollouts: none below outputs" in error_of(
        drl("compare", "nothing", "nothing", cwd=tmp_path)
    )
    training = tmp_path / "training"
    (training / "checkpoints" / "final").mkdir(parents=True)
    (training / "provenance.json").touch()
    error = error_of(drl("compare", str(training), str(training)))
    assert f"{training} is a training, which plays no dialogues; evaluate it first" in error
    run = tmp_path / "run"
    run.mkdir()
    (run / "provenance.json").touch()
    (run / "rollouts.jsonl").touch()
    message = "a comparison needs two runs or more; name another one"
    assert message in error_of(drl("compare", str(run)))
    assert "is named twice; a run does not differ from itself" in error_of(
        drl("compare", str(run), f"{run}/../run")
    )
