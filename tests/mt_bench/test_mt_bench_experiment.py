"""The experiment as it is: without a key, on our own questions, with numbers known by hand."""

import json
from pathlib import Path

import pytest

from drl.launch import run

CONF = Path(__file__).parents[2] / "conf"
BASELINE = "experiments/mt_bench/answers/short.jsonl"


def summary_of(tmp_path: Path, *overrides: str) -> dict:
    place = [f"hydra.run.dir={tmp_path / 'run'}", f"data_dir={tmp_path / 'data'}"]
    folder = run(CONF, ["+experiment=mt_bench", *place, *overrides])
    return json.loads((folder / "summary.json").read_text())


def test_the_answers_written_by_hand_get_what_the_rule_gives_them(tmp_path):
    summary = summary_of(tmp_path)
    # first turns: ten of 10, one of 1 (the wrong person), one of 8 (an animal is missing)
    assert summary["ratings"]["per_turn"]["turn_1"]["value"] == pytest.approx(109 / 12)
    # second turns: seven of 10, three of 1, one of 8 and one of 6
    assert summary["ratings"]["per_turn"]["turn_2"]["value"] == pytest.approx(87 / 12)
    assert summary["mt_bench"]["n_judged"] == 24
    assert summary["n_errors"] == 0
    assert summary["label"].startswith("A check of the set-up")


def test_against_the_short_answers_wins_ties_and_losses_add_up(tmp_path):
    summary = summary_of(tmp_path, "reward.mode=pairwise", f"reward.baseline={BASELINE}")
    shares = {name: summary["comparisons"][name]["value"] for name in ("win_rate", "loss_rate")}
    assert shares == {"win_rate": pytest.approx(10 / 24), "loss_rate": pytest.approx(6 / 24)}
    assert summary["comparisons"]["agreement"]["value"] == 1.0


def test_a_judge_that_answers_prose_stops_nothing(tmp_path):
    summary = summary_of(
        tmp_path, "llm@judge_llm=scripted", "judge_llm.replies=[I like it.]", "dataset.limit=3"
    )
    assert summary["mt_bench"]["n_judged"] == 0
    assert summary["mt_bench"]["n_unscored"] == 6
    assert summary["n_unscored"] == 3
    assert summary["mean_reward"] is None
