"""The command line as people meet it: real processes, exit codes, one clear line."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from drl.tree.store import read_trees

ROOT = Path(__file__).parents[2]
DATA = os.environ.get("DRL_DATA", "data")


def command(*overrides: str) -> list[str]:
    return [sys.executable, "run.py", *overrides, f"data_dir={DATA}"]


def run(*overrides: str, timeout: int = 300) -> subprocess.CompletedProcess:
    return subprocess.run(
        command(*overrides), cwd=ROOT, capture_output=True, text=True, timeout=timeout
    )


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (
            ["+experiment=nothing"],
            "experiment=nothing is not known; known: candor_geli, ",
        ),
        (["rollout=fancy"], "rollout=fancy is not known; known: best_of_n, best_of_n/budget, josh"),
        (["agent=[1,2]"], ": cannot be composed (argument of type"),
        (["+experiment=null"], "a group takes one name"),
        (["llm.model=x"], "llm.model cannot be set because llm is not chosen; add llm=NAME"),
        (["~calls"], "calls cannot be taken away"),
        (
            [
                *["reward=goal_api", "~reward.judge_against"],
                "reward._target_=drl.user_simulator.script.ScriptUserSimulator",
            ],
            "is a ScriptUserSimulator, which is no Reward",
        ),
        (["color=red"], "color is not known; settings: name, seed, data_dir, calls; groups:"),
        (["+color=red"], "color is not known; settings: name, seed, data_dir, calls; groups:"),
        (
            ["+experiment=toolwoz_josh", "rollout.beam_sise=3"],
            "rollout has no setting beam_sise; known: beam_size, branching",
        ),
        (
            ["+experiment=toolwoz_josh", "rollout.beam_size=abc"],
            "rollout.beam_size='abc' must be int",
        ),
        (["+experiment=toolwoz_josh", "seed=x"], "seed='x' must be int"),
        (["+experiment=toolwoz_josh", "name=a/b"], "name='a/b' names a folder"),
        (
            ["+experiment=toolwoz_josh", "rollout=single", "+rollout.beam_size=3"],
            "rollout.beam_size=3 is not a setting of",
        ),
        (
            ["+experiment=toolwoz_josh", "agent.temperature=0.0"],
            "this one takes the same step in every sibling",
        ),
        (["+experiment=toolwoz_josh", "~agent"], "agent is not chosen"),
        (["agent=null"], "agent=null cannot be said on the command line; say '~agent'"),
        (["experiment=toolwoz_josh"], "experiment is appended, not overridden; say +experiment="),
        (["rollout=["], "no viable alternative"),
        (
            ["--multirun", "+experiment=toolwoz_josh", "rollout.beam_size=2,0"],
            "rollout.beam_size=0 must be at least 1; raise it (job +experiment=toolwoz_josh",
        ),
        (
            ["+experiment=toolwoz_josh", "+score=x"],
            "score has settings but is not chosen; add reward@score=NAME (known: db_state",
        ),
        (["+experiment=toolwoz_josh", "dataset.split=dev"], "dataset.split=dev is unknown"),
        (["+experiment=toolwoz_josh", "dataset.ids=[X]"], "dataset.ids=X.json is no dialogue"),
        (["+experiment=toolwoz_josh", "hydra.run.dir=/proc/x"], "/proc/x: cannot be written"),
    ],
)
def test_a_mistake_is_one_clear_line(overrides, message, tmp_path):
    if not any(o.startswith("hydra.run.dir") for o in overrides):
        overrides = [*overrides, f"hydra.run.dir={tmp_path / 'run'}"]
    done = run(*overrides)
    assert done.returncode in (1, 2)
    assert done.stdout == ""
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("error: ")
    assert message in lines[0]


def test_a_tiny_run_leaves_all_its_files_in_its_folder(tmp_path):
    done = run("+experiment=toolwoz_josh", "+debug=tiny", f"hydra.run.dir={tmp_path / 'run'}")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    names = {path.name for path in (tmp_path / "run").iterdir()} - {".lock"}
    files = {"provenance.json", "rollouts.jsonl", "summary.json", "report.html", ".hydra"}
    assert names == files
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["n_tasks"] == summary["n_scored"] == 3
    assert summary["search"] is True
    assert summary["modes"]["environment"] == "faithful"
    assert set(summary["mean_reward"]) >= {"value", "low", "high"}


def test_the_same_command_finds_its_run_again(tmp_path):
    folder = f"hydra.run.dir={tmp_path / 'run'}"
    first = run("+experiment=toolwoz_josh", "+debug=tiny", folder)
    stored = (tmp_path / "run" / "rollouts.jsonl").read_bytes()
    again = run("+experiment=toolwoz_josh", "+debug=tiny", folder)
    assert first.returncode == again.returncode == 0
    assert (tmp_path / "run" / "rollouts.jsonl").read_bytes() == stored
    other = run("+experiment=toolwoz_josh", "+debug=tiny", "seed=1", folder)
    assert other.returncode == 2
    assert "holds a run with another config (seed differ)" in other.stderr
    assert (tmp_path / "run" / "rollouts.jsonl").read_bytes() == stored


def test_a_sweep_gives_each_job_a_folder_of_its_own(tmp_path):
    done = run(
        "--multirun",
        "+experiment=toolwoz_josh",
        "+debug=tiny",
        "rollout.beam_size=2,4",
        f"hydra.sweep.dir={tmp_path}",
    )
    assert done.returncode == 0, done.stderr
    for beam in (2, 4):
        job = f"+experiment=toolwoz_josh +debug=tiny rollout.beam_size={beam}"
        assert f"\nJob {beam // 4}: {job}" in done.stdout, "each table stands below what it is of"
    assert done.stdout.rstrip().splitlines()[-1].startswith("Task by task: ")
    beams = [
        json.loads(path.read_text())["config"]["rollout"]["beam_size"]
        for path in tmp_path.glob("*/provenance.json")
    ]
    assert sorted(beams) == [2, 4]


def test_an_interrupt_ends_cleanly_and_says_how_to_go_on(tmp_path):
    overrides = ("+experiment=toolwoz_josh", f"hydra.run.dir={tmp_path}")
    process = subprocess.Popen(
        command(*overrides),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # whoever runs the tests in the background makes their children ignore interrupts
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    _wait_for_lines(tmp_path / "rollouts.jsonl", process)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "the same command goes on there" in stderr
    assert "Traceback" not in stderr
    assert list(read_trees(tmp_path / "rollouts.jsonl"))


@pytest.mark.slow
def test_a_run_killed_at_twenty_moments_gives_the_trees_of_an_undisturbed_one(tmp_path):
    def overrides(folder: str) -> list[str]:
        choice = ["dataset.limit=150", "rollout.concurrency=4"]
        return ["+experiment=toolwoz_josh", *choice, f"hydra.run.dir={tmp_path / folder}"]

    assert run(*overrides("undisturbed")).returncode == 0
    moments = random.Random(0)
    killed_while_writing = 0
    for _ in range(20):
        process = subprocess.Popen(
            command(*overrides("killed")), cwd=ROOT, stdout=subprocess.DEVNULL
        )
        time.sleep(moments.uniform(0.2, 2.5))
        killed_while_writing += process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert killed_while_writing >= 5
    done = run(*overrides("killed"))
    assert done.returncode == 0, done.stderr

    def trees(folder: str) -> dict:
        stored = read_trees(tmp_path / folder / "rollouts.jsonl")
        return {(tree.task_id, tree.trial): tree for tree in stored}

    assert len(trees("undisturbed")) == 150
    assert trees("killed") == trees("undisturbed")
    assert len(list(read_trees(tmp_path / "killed" / "rollouts.jsonl"))) == 150


def _wait_for_lines(file: Path, process: subprocess.Popen) -> None:
    deadline = time.monotonic() + 60
    while not (file.exists() and file.stat().st_size):
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize(
    "arguments",
    [
        ["run.py", "+experiment=candor_geli"],
        ["run.py", "+experiment=candor_ppo"],
        [
            *["-c", "from drl.cli.main import main; main()"],
            *["score", "README.md", "--model", "tests/reward/turn_model/model"],
        ],
    ],
)
def test_without_torch_one_line_says_what_to_install(tmp_path, arguments):
    (tmp_path / "torch.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'torch'\", name='torch')"
    )
    places = [f"hydra.run.dir={tmp_path / 'run'}", f"data_dir={tmp_path / 'data'}"]
    done = subprocess.run(
        [sys.executable, *arguments, *(places if "run.py" in arguments else [])],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("error: torch is not installed")
    assert "Traceback" not in done.stderr
