"""`drl matrix` on real tasks, as people meet it."""

import json
from pathlib import Path

import pytest
from cli.running import DATA, ROOT, drl, error_of

CONF = str(ROOT / "conf")


@pytest.mark.slow
def test_an_agent_is_compared_task_by_task_under_two_customers(tmp_path):
    command = [
        *("matrix", "toolwoz_josh", "--users", "agenda,script", "--conf", CONF),
        *("agent=rule", "dataset.limit=20", f"data_dir={(ROOT / DATA).resolve()}"),
    ]
    done = drl(*command, cwd=tmp_path)
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
    assert drl(*command, cwd=tmp_path).returncode == 0
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
    assert message in error_of(drl("matrix", *arguments, "--conf", CONF, cwd=tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_without_the_config_groups_the_remedy_is_named(tmp_path):
    error = error_of(drl("matrix", "toolwoz_josh", "--users", "agenda,script", cwd=tmp_path))
    assert "--conf conf: there is no conf/config.yaml; start the command in the root" in error
