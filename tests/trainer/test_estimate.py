"""An estimate grows the run's own trees, and the run pays for none of them again."""

import json

import pytest
from scripted import ScriptedAgent, josh, say
from trainer.small_runs import start
from trainer.talking import TalkingLLM, parts_of, trees

from drl.errors import ConfigError, RunError
from drl.llm.base import OutageError
from drl.trainer.collect import CollectTrainer
from drl.trainer.estimate import EstimateTrainer

COLLECT = CollectTrainer(trials=1)
PRICES = {"talker": {"input": 10.0, "output": 100.0}}


def estimate_of(num_tasks=4, trials=1):
    return EstimateTrainer(num_tasks=num_tasks, trials=trials)


def stored(folder):
    return json.loads((folder / "estimate.json").read_text())


def search():
    return josh(beam_size=4, max_steps=4, final_harvest=False, concurrency=3)


@pytest.mark.parametrize("rollout", [None, search()])
def test_the_run_grows_the_same_trees_and_pays_for_none_of_them_again(tmp_path, rollout):
    handful, rest, whole = TalkingLLM(), TalkingLLM(), TalkingLLM()
    start(estimate_of(), parts_of(tmp_path, handful, rollout=rollout), tmp_path / "estimate")
    start(COLLECT, parts_of(tmp_path, rest, rollout=rollout), tmp_path / "run")
    elsewhere = tmp_path / "elsewhere"
    start(COLLECT, parts_of(elsewhere, whole, rollout=rollout), elsewhere)

    drawn = trees(tmp_path / "estimate")
    assert len(drawn) == 4
    assert drawn.items() <= trees(tmp_path / "run").items()
    assert trees(tmp_path / "run") == trees(elsewhere)
    num_samples = [sum(r.n for r in llm.asked) for llm in (handful, rest, whole)]
    assert num_samples[0] + num_samples[1] == num_samples[2]


def test_an_estimate_from_all_tasks_is_the_bill_of_the_run(tmp_path):
    parts = parts_of(tmp_path, TalkingLLM(), prices=PRICES, rollout=search())
    start(estimate_of(12), parts, tmp_path / "estimate")
    whole = TalkingLLM()
    elsewhere = tmp_path / "elsewhere"
    run = start(COLLECT, parts_of(elsewhere, whole, prices=PRICES, rollout=search()), elsewhere)
    bill, row = (
        run["calls"]["agent: talker"],
        stored(tmp_path / "estimate")["calls"]["agent: talker"],
    )
    for name in ("requests", "tokens_in", "tokens_cached", "tokens_out", "usd"):
        assert row[name] == {key: pytest.approx(bill[name]) for key in ("value", "low", "high")}


def test_the_mean_per_task_is_scaled_to_all_tasks_and_trials(tmp_path):
    handful = TalkingLLM()
    start(estimate_of(4, trials=5), parts_of(tmp_path, handful, prices=PRICES), tmp_path / "e")
    found = stored(tmp_path / "e")
    row = found["calls"]["agent: talker"]
    assert (found["n"], found["num_rollouts"]) == (4, 60)
    # each of the four stands for 60 / 4 = 15 rollouts; a request is 30 tokens in and 10 out
    requests = 15 * len(handful.asked)
    assert row["requests"]["value"] == requests
    assert row["tokens_in"]["value"] == 30 * requests
    assert row["tokens_out"]["value"] == 10 * requests
    # 30 tokens at 10 dollars and 10 at 100 dollars a million: 0.0013 dollars a request
    assert row["usd"]["value"] == pytest.approx(0.0013 * requests)
    assert row["usd"]["low"] < row["usd"]["value"] < row["usd"]["high"]
    assert found["usd"] == row["usd"]
    assert found["spent_usd"] == pytest.approx(0.0013 * len(handful.asked))


def test_what_the_cache_spares_is_in_the_estimate_all_the_same(tmp_path):
    start(estimate_of(), parts_of(tmp_path, TalkingLLM(), prices=PRICES), tmp_path / "first")
    spared = TalkingLLM()
    start(estimate_of(), parts_of(tmp_path, spared, prices=PRICES), tmp_path / "second")
    assert not spared.asked
    first, second = stored(tmp_path / "first"), stored(tmp_path / "second")
    assert second["calls"] == first["calls"]


def test_an_estimate_that_was_cut_off_goes_on_and_counts_no_answer_twice(tmp_path):
    straight = tmp_path / "straight"
    start(estimate_of(), parts_of(straight, TalkingLLM(), prices=PRICES), straight)
    folder = tmp_path / "cut"
    first = TalkingLLM()
    limited = parts_of(tmp_path, first, prices=PRICES, budget_tokens=550)
    with pytest.raises(RunError, match="budget_tokens=550 is used up"):
        start(estimate_of(), limited, folder)
    rest = TalkingLLM()
    start(estimate_of(), parts_of(tmp_path, rest, prices=PRICES), folder)
    assert first.asked
    assert rest.asked
    assert stored(folder)["calls"] == stored(straight)["calls"]
    assert trees(folder) == trees(straight)


def test_a_budget_bounds_the_estimate_too_and_what_was_finished_is_told(tmp_path, capsys):
    parts = parts_of(tmp_path, TalkingLLM(), prices=PRICES, budget_tokens=900)
    parts.rollout.concurrency = 1
    with pytest.raises(RunError, match="budget_tokens=900 is used up"):
        start(estimate_of(10), parts, tmp_path / "e")
    found = stored(tmp_path / "e")
    assert 0 < found["n"] < 10
    assert "budget_tokens=900 is used up" in found["stopped"]
    shown = capsys.readouterr().out
    assert "of the drawn tasks are not in it" in shown
    assert "calls.budget_tokens=900 ends the run after about" in shown


def test_a_price_that_nobody_knows_is_unknown_and_never_nothing(tmp_path, capsys):
    start(estimate_of(), parts_of(tmp_path, TalkingLLM()), tmp_path / "e")
    found = stored(tmp_path / "e")
    assert found["usd"] == found["spent_usd"] == "unknown"
    assert found["calls"]["agent: talker"]["usd"] == "unknown"
    assert found["unknown_prices"] == ["talker"]
    assert "The price of talker is unknown" in capsys.readouterr().out


def test_one_task_gives_no_interval_and_says_so(tmp_path, capsys):
    start(estimate_of(1), parts_of(tmp_path, TalkingLLM(), prices=PRICES), tmp_path / "e")
    found = stored(tmp_path / "e")
    assert (found["usd"]["low"], found["usd"]["high"]) == (None, None)
    assert (found["seconds"]["low"], found["seconds"]["high"]) == (None, None)
    assert "there is no interval" in capsys.readouterr().out


def test_without_models_there_are_no_requests_and_only_time(tmp_path, capsys):
    parts = parts_of(tmp_path, TalkingLLM())
    silent = ScriptedAgent(lambda situation: say())
    for field, value in (("agent", silent), ("llm", None)):
        object.__setattr__(parts, field, value)
    start(estimate_of(), parts, tmp_path / "e")
    found = stored(tmp_path / "e")
    assert found["calls"] == {}
    assert found["seconds"]["value"] > 0
    assert "0 requests" in capsys.readouterr().out
    assert not (tmp_path / "e" / "calls.jsonl").exists()


def test_what_broke_is_left_out_and_said(tmp_path, capsys):
    failing = TalkingLLM(fault=lambda r: OutageError("down") if r.place.task_id == "0" else None)
    start(estimate_of(12), parts_of(tmp_path, failing, prices=PRICES), tmp_path / "e")
    found = stored(tmp_path / "e")
    assert (found["n"], found["n_drawn"]) == (11, 12)
    assert "1 of the drawn tasks are not in it" in capsys.readouterr().out


def test_where_nothing_was_finished_there_is_no_estimate(tmp_path):
    down = TalkingLLM(fault=lambda request: OutageError("the server is down"))
    with pytest.raises(RunError, match="the server is down"):
        start(estimate_of(), parts_of(tmp_path, down), tmp_path / "e")
    assert not (tmp_path / "e" / "estimate.json").exists()


@pytest.mark.parametrize("setting", ["num_tasks", "trials"])
def test_an_estimate_from_nothing_is_refused(setting):
    with pytest.raises(ConfigError, match=f"trainer.{setting}=0 must be at least 1"):
        EstimateTrainer(**({"num_tasks": 1, "trials": 1} | {setting: 0}))
