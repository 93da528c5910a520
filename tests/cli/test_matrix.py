"""`drl matrix` on real tasks, as people meet it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

CONF = Path(__file__).parents[2] / "conf"
DATA = Path(os.environ.get("DRL_DATA", "data")).absolute()
DRL = [sys.executable, "-c", "from drl.cli.main import main; main()"]


def matrix(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    """The command, started in a folder of its own, where `outputs` then lies."""
    command = [*DRL, "matrix", *arguments]
    environ = os.environ | {"PYTHONPATH": str(CONF.parent)}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environ)


def test_an_agent_is_compared_task_by_task_under_two_customers(tmp_path):
    command = [
        *("toolwoz_josh", "--users", "agenda,script", "--conf", str(CONF)),
        *("agent=rule", "dataset.limit=20", f"data_dir={DATA}"),
    ]
    done = matrix(tmp_path, *command)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    (file,) = (tmp_path / "outputs" / "toolwoz_josh").glob("matrix-*.json")
    table = json.loads(file.read_text())
    assert list(table["users"]) == ["agenda", "script"]
    assert "Policy" in table["label"]
    gap = table["differences"]["mean_reward"]["script"]
    rows = {user: row["mean_reward"] for user, row in table["users"].items()}
    assert gap["value"] == pytest.approx(rows["script"]["value"] - rows["agenda"]["value"])
    assert gap["n"] == rows["agenda"]["n"] == rows["script"]["n"] == 20
    # the agent was written beside the agenda customer; a human's lines serve it worse
    assert gap["high"] < 0

    kept = {user: Path(tmp_path, run, "rollouts.jsonl") for user, run in table["runs"].items()}
    before = {user: path.read_bytes() for user, path in kept.items()}
    assert matrix(tmp_path, *command).returncode == 0
    assert {user: path.read_bytes() for user, path in kept.items()} == before
    assert json.loads(file.read_text()) == table


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["toolwoz_josh"], "--users is missing: a matrix compares two or more"),
        (["toolwoz_josh", "--users", "agenda"], "--users agenda: a matrix compares two or more"),
        (["toolwoz_josh", "--users", "agenda,agenda"], "two or more different customers"),
        (["toolwoz_josh", "--users", "agenda,nobody"], "nobody is not known; known: agenda"),
        (["nothing", "--users", "agenda,script"], "experiment=nothing is not known; known:"),
        (
            ["toolwoz_josh", "--users", "agenda,goal"],
            "user_llm is not chosen, but this user_simulator speaks through one; add llm@user_llm",
        ),
        (
            ["toolwoz_josh", "--users", "agenda,script", "hydra.run.dir=x"],
            "x would hold the runs of several customers",
        ),
        (["toolwoz_validate", "--users", "agenda,script"], "agent is not chosen"),
    ],
)
def test_a_mistake_is_one_clear_line_before_anything_runs(tmp_path, arguments, message):
    done = matrix(tmp_path, *arguments, "--conf", str(CONF))
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_without_the_config_groups_the_remedy_is_named(tmp_path):
    done = matrix(tmp_path, "toolwoz_josh", "--users", "agenda,script")
    assert "--conf conf: there is no conf/config.yaml; start the command in the root" in done.stderr
