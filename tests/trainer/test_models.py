"""What becomes of a run when a model is out, or the budget is spent."""

import asyncio
import json

import pytest
from trainer.small_runs import start
from trainer.talking import TalkingLLM, parts_of, trees

from drl.agent.base import Situation
from drl.calls.ledger import read_entries
from drl.errors import ConfigError, RunError
from drl.llm.base import NoLLM, OutageError, Request
from drl.trainer._cast import open_switchboard, playing
from drl.trainer.collect import CollectTrainer
from drl.types import Place, Toolbox

COLLECT = CollectTrainer(trials=1)


def summary(folder):
    return json.loads((folder / "summary.json").read_text())


def of_task(*task_ids):
    """A fault: the model is out whenever one of these tasks asks."""

    def fault(request: Request) -> Exception | None:
        assert request.place is not None
        is_out = request.place.task_id in task_ids
        return OutageError("the server is down") if is_out else None

    return fault


def test_an_outage_is_a_failed_attempt_that_runs_again(tmp_path):
    folder = tmp_path / "run"
    start(COLLECT, parts_of(tmp_path, TalkingLLM(fault=of_task("3"))), folder)
    found = summary(folder)
    assert (found["n_tasks"], found["n_errors"], found["n_scored"]) == (12, 1, 11)
    assert trees(folder)["3", 0].is_broken

    again = TalkingLLM()
    start(COLLECT, parts_of(tmp_path, again), folder)
    assert {r.place.task_id for r in again.asked} == {"3"}
    assert summary(folder)["n_errors"] == 0

    straight = tmp_path / "straight"
    start(COLLECT, parts_of(straight, TalkingLLM()), straight)
    assert trees(folder) == trees(straight)


def test_five_outages_in_a_row_end_the_run_with_one_clear_error_and_a_summary(tmp_path):
    folder = tmp_path / "run"
    down = TalkingLLM(fault=of_task(*map(str, range(4, 40))))
    with pytest.raises(RunError, match=r"5 .* in a row were lost to outages, the last so: .*down"):
        start(COLLECT, parts_of(tmp_path, down, num_tasks=40), folder)
    found = summary(folder)
    assert "lost to outages" in found["stopped"]
    # once the four tasks that go well are over, five more are tried at the most
    assert 5 <= found["n_tasks"] < 40

    start(COLLECT, parts_of(tmp_path, TalkingLLM(), num_tasks=40), folder)
    found = summary(folder)
    assert "stopped" not in found
    assert (found["n_scored"], found["n_errors"]) == (40, 0)


def test_outages_with_successes_between_them_do_not_end_the_run(tmp_path):
    odd = TalkingLLM(fault=of_task("1", "3", "5", "7", "9", "11"))
    parts = parts_of(tmp_path, odd)
    parts.rollout.concurrency = 1
    start(COLLECT, parts, tmp_path / "run")
    assert summary(tmp_path / "run")["n_errors"] == 6


def test_a_spent_budget_ends_the_run_with_a_summary_and_a_larger_one_goes_on(tmp_path):
    folder = tmp_path / "run"
    first = TalkingLLM()
    with pytest.raises(RunError, match="budget_tokens=1200 is used up"):
        start(COLLECT, parts_of(tmp_path, first, budget_tokens=1200), folder)
    found = summary(folder)
    assert "budget_tokens=1200 is used up" in found["stopped"]
    assert 0 < found["n_tasks"] < 12
    (bill,) = found["calls"].values()
    assert bill["tokens_in"] + bill["tokens_out"] <= 1200
    assert bill["requests"] == len(first.asked)

    rest = TalkingLLM()
    start(COLLECT, parts_of(tmp_path, rest, budget_tokens=100_000), folder)
    found = summary(folder)
    assert (found["n_tasks"], found["n_errors"], "stopped" in found) == (12, 0, False)
    (bill,) = found["calls"].values()
    assert bill["requests"] == len(first.asked) + len(rest.asked)

    straight, whole = tmp_path / "straight", TalkingLLM()
    start(COLLECT, parts_of(straight, whole), straight)
    assert trees(folder) == trees(straight)
    assert len(first.asked) + len(rest.asked) == len(whole.asked)


def test_a_run_that_is_finished_asks_nothing(tmp_path):
    start(COLLECT, parts_of(tmp_path, TalkingLLM()), tmp_path / "run")
    again = TalkingLLM()
    start(COLLECT, parts_of(tmp_path, again), tmp_path / "run")
    assert not again.asked


def test_where_no_model_was_chosen_whoever_asks_is_told_how_to_choose_one():
    request = Request((), None, (1,), "user")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ConfigError, match=r"user_llm is not chosen, .* add llm@user_llm=NAME"):
        asyncio.run(NoLLM("user_llm").complete(request))


def test_an_interrupt_keeps_the_answers_that_come_within_moments(tmp_path):
    async def play():
        llm = TalkingLLM(seconds=0.2)
        parts = parts_of(tmp_path, llm)
        agent = parts.agent
        assert agent is not None

        async def run():
            with open_switchboard(parts, tmp_path) as board:
                async with playing(parts, board, concurrency=2) as cast:
                    situation = Situation((), (), Toolbox(()), seed=1, place=Place("0", 0, None))
                    await agent.act(situation, cast.llm)

        running = asyncio.ensure_future(run())
        while not llm.asked:
            await asyncio.sleep(0.01)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        return running.cancelled()

    assert asyncio.run(play())
    (entry,) = read_entries(tmp_path / "calls.jsonl")
    assert (entry.samples, entry.from_cache) == (1, False)
