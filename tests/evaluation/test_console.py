"""What a run's numbers are called on the terminal."""

from pathlib import Path

import pytest

from drl.evaluation.console import print_summary

SHARE = {"value": 0.5, "low": 0.4, "high": 0.6, "n": 10}


def shown(capsys: pytest.CaptureFixture[str], **parts: object) -> str:
    summary = {"name": "run", "n_tasks": 10, "n_errors": 0, "seconds": 1, "label": "", **parts}
    print_summary(summary, Path("outputs/run/0"), details=True)
    return capsys.readouterr().out


def test_goals_reached_are_not_taken_for_the_score_of_a_domain(capsys):
    goals = {"per_goal_kind": {"cancel_order": SHARE}}
    alone = shown(capsys, per_domain={"retail": SHARE}, **goals)
    assert "goals reached, by kind:" in alone
    assert "retail" not in alone
    several = shown(capsys, per_domain={"hotel": SHARE, "train": SHARE}, **goals)
    assert "goals reached, by domain:" in several
    assert "hotel" in several


def test_what_a_run_has_not_has_no_heading(capsys):
    assert "goals reached" not in shown(capsys, per_domain={}, per_goal_kind={})
