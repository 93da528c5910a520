"""`drl certify-user` as people meet it."""

import json

import pytest
from cli.running import DATA, drl, error_of


def certify(folder, *arguments):
    return drl("certify-user", *arguments, f"data_dir={DATA}", f"hydra.run.dir={folder}")


def test_the_rule_users_are_certified(tmp_path):
    done = certify(tmp_path / "run", "agenda", "--tasks", "12", "user_simulator.phrasing=all")
    assert done.returncode == 0, done.stderr + done.stdout
    assert "agenda (first_wish=tentative, phrasing=all, patience=3) passes" in done.stdout
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert (summary["passed"], summary["n_tasks"]) == (True, 12)
    assert {path.parent.name for path in (tmp_path / "run").glob("*/report.html")} == {
        "oracle",
        "rule",
    }


def test_a_user_that_follows_a_script_is_not_and_each_broken_rule_is_a_line(tmp_path):
    done = certify(tmp_path / "run", "script", "--tasks", "30", "trainer.min_goal_coverage=1.0")
    assert done.returncode == 1
    lines = done.stderr.strip().splitlines()
    assert len(lines) >= 2
    assert lines[0].startswith("goal_coverage with agent oracle is 0.9")
    assert "below trainer.min_goal_coverage=1.0; task " in lines[0]
    assert lines == json.loads((tmp_path / "run" / "summary.json").read_text())["broken_rules"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nobody"], "user_simulator=nobody is not known; known: agenda"),
        (["goal"], "user_llm is not chosen, but this user_simulator speaks through one"),
        (["agenda", "agent=rule"], "agent=rule: certify-user chooses its agents and rollout"),
        (["agenda", "trainer=collect"], "trainer=collect: certify-user chooses"),
        (["agenda", "--tasks", "0"], "trainer.num_tasks=0 must be at least 1"),
        (["agenda", "trainer.max_leakage=2.0"], "trainer.max_leakage=2.0 is a share"),
        (["agenda", "--experiment", "nothing"], "experiment=nothing is not known"),
    ],
)
def test_a_mistake_is_one_clear_line(arguments, message, tmp_path):
    assert message in error_of(certify(tmp_path / "run", *arguments))
