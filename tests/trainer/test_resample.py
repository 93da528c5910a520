"""What the labels of a search are worth, where the truth is known by construction."""

import asyncio
import json
import random
from dataclasses import replace

import pytest
from scripted import (
    CountingSession,
    CountingWorld,
    ScriptedAgent,
    ScriptedUser,
    hit,
    josh,
    lucky,
    say,
)
from trainer.small_runs import NumberedTasks, small_parts, start

from drl.errors import ConfigError, RunError
from drl.llm.base import OutageError
from drl.runtime.run_dir import RunDir
from drl.trainer.base import Parts
from drl.trainer.collect import CollectTrainer
from drl.trainer.resample import ResampleTrainer
from drl.types import ToolResult

JOSH = josh(beam_size=2, max_steps=2, concurrency=16)


def parts_of(act, *, tasks=6, user=None, world=None, rollout=JOSH, kinds=("goal_0",)) -> Parts:
    numbered = NumberedTasks(tasks, kinds)
    return small_parts(ScriptedAgent(act), rollout, numbered, user=user, world=world)


def search(tmp_path, parts) -> bytes:
    start(CollectTrainer(trials=1), parts, tmp_path)
    return (tmp_path / "rollouts.jsonl").read_bytes()


def resample(tmp_path, parts, *, continuations=8, max_nodes=None, seed=0) -> dict:
    trainer = ResampleTrainer(continuations=continuations, max_nodes=max_nodes, seed=seed)
    settings = {"continuations": continuations, "max_nodes": max_nodes, "seed": seed}
    with RunDir(tmp_path / "resample") as run_dir:
        run_dir.claim({**parts.config, "trainer": settings})
        trainer.run(parts, run_dir)
    return json.loads((tmp_path / "resample" / "summary.json").read_text())


def lines_of(tmp_path, name="branches") -> list[dict]:
    text = (tmp_path / "resample" / f"{name}.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def test_the_posterior_covers_the_chance_of_an_agent_that_is_lucky_so_often(tmp_path):
    # of two agent turns one is left after the place of choice: whatever earned nothing there and
    # whatever it is called, the chance that it does later is 0.3
    parts = parts_of(lucky(0.3), tasks=60)
    search(tmp_path, parts)
    summary = resample(tmp_path, parts, continuations=20)
    open_branches = [line for line in lines_of(tmp_path) if not line["earned"]]
    assert len(open_branches) > 60
    covered = [
        line["p_success"]["low"] <= 0.3 <= line["p_success"]["high"] for line in open_branches
    ]
    # 95 % of some 90 in the long run; four standard deviations below are 86 %
    assert sum(covered) / len(covered) > 0.86
    for label in ("failed", "censored"):
        error = summary["label_error"][label]
        assert error["low"] <= 0.3 <= error["high"]
    assert summary["labels"]["golden"]["p_success"]["value"] > 0.6


@pytest.mark.parametrize(("later", "error"), [(lucky(1.0), 1.0), (lucky(0.0), 0.0)])
def test_failed_branches_that_always_or_never_succeed_later(tmp_path, later, error):
    before = search(tmp_path, parts_of(lucky(0.0)))
    summary = resample(tmp_path, parts_of(later))
    failed = summary["labels"]["failed"]
    assert (failed["n_branches"], failed["n_over"], failed["n_continuations"]) == (12, 0, 96)
    assert failed["n_succeeded_once"] == 12 * error
    assert failed["p_success"] == {"value": error, "low": error, "high": error, "n": 6}
    assert failed["full_success"]["value"] == error
    assert summary["label_error"]["failed"]["value"] == error
    assert (tmp_path / "rollouts.jsonl").read_bytes() == before


def test_one_more_goal_is_success_and_all_goals_are_full_success(tmp_path):
    # three goals and one turn left: one more is reached, never all
    kinds = ("goal_0", "goal_1", "goal_2")
    search(tmp_path, parts_of(lucky(0.0), kinds=kinds))
    failed = resample(tmp_path, parts_of(lucky(1.0), kinds=kinds))["labels"]["failed"]
    assert (failed["p_success"]["value"], failed["full_success"]["value"]) == (1.0, 0.0)


def test_what_a_saved_turn_earned_itself_counts_and_a_dialogue_that_is_over_is_not_played(tmp_path):
    search(tmp_path, parts_of(lucky(1.0)))
    summary = resample(tmp_path, parts_of(lucky(0.0)))
    # both siblings reach the only goal at once: one is golden, the other successful
    for label in ("golden", "successful"):
        row = summary["labels"][label]
        assert (row["n_over"], row["n_earned"], row["n_continuations"]) == (6, 6, 0)
        assert row["p_success"]["value"] == row["full_success"]["value"] == 1.0


def test_customers_and_agents_are_seeded_anew_each_time(tmp_path):
    user, fresh = ScriptedUser(), ScriptedUser()
    parts = parts_of(lucky(0.0), user=user)
    search(tmp_path, parts)
    again = parts_of(lucky(0.0), user=fresh)
    resample(tmp_path, again, continuations=3)
    met = [seed for _, seed in fresh.seeds]
    assert len(met) == len(set(met)) == 12 * 3
    assert not set(met) & {seed for _, seed in user.seeds}
    assert len(again.agent.seeds) == len(set(again.agent.seeds))
    assert not set(again.agent.seeds) & set(parts.agent.seeds)


def test_no_dialogue_grows_longer_than_those_of_the_search(tmp_path):
    rollout = replace(JOSH, beam_size=8, max_steps=4)
    search(tmp_path, parts_of(lucky(0.0), rollout=rollout))
    parts = parts_of(lucky(0.0), rollout=rollout)
    resample(tmp_path, parts)
    before = {line["node"]: line["num_turns"] for line in lines_of(tmp_path)}
    for line in lines_of(tmp_path, "resample"):
        assert before[line["node"]] + line["num_turns"] == 4


def test_parts_of_turns_are_finished_first(tmp_path):
    def act(situation):
        done = len(situation.steps)
        return say() if done == 2 else hit("idle" if done == 0 else "goal_0")

    rollout = replace(JOSH, branch_at="step", max_steps=1, beam_size=4)
    search(tmp_path, parts_of(lambda s: say() if s.steps else hit("idle"), rollout=rollout))
    failed = resample(tmp_path, parts_of(act, rollout=rollout))["labels"]["failed"]
    # after one idle step the agent may still call the goal's tool; after its reply it is over
    assert failed["n_branches"] > failed["n_over"] > 0
    played = [line for line in lines_of(tmp_path) if not line["over"]]
    assert all(line["hits"] == line["tries"] == 8 for line in played)
    assert {line["num_turns"] for line in played} == {0}


def test_a_second_start_plays_only_what_is_missing_and_finds_the_same(tmp_path):
    parts = parts_of(lucky(0.3), tasks=10)
    search(tmp_path, parts)
    whole = resample(tmp_path, parts)
    file = tmp_path / "resample" / "resample.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:37]) + lines[37][:20])  # as a kill leaves it
    once_more = parts_of(lucky(0.3), tasks=10)
    again = resample(tmp_path, once_more)
    assert sorted(file.read_bytes().splitlines(keepends=True)) == sorted(lines)
    played = sum(json.loads(line)["num_calls"] for line in file.read_bytes().splitlines()[37:])
    assert len(once_more.agent.seeds) == played > 0
    assert {k: v for k, v in again.items() if k != "seconds"} == {
        k: v for k, v in whole.items() if k != "seconds"
    }


def test_places_are_drawn_the_same_way_for_every_number_of_continuations(tmp_path):
    parts = parts_of(lucky(0.0), rollout=replace(JOSH, beam_size=16, max_steps=5))
    search(tmp_path, parts)
    summary = resample(tmp_path, parts, continuations=1, max_nodes=2)
    # the beam doubles four times: 1 + 2 + 4 + 8 places in each tree
    assert (summary["n_places"], summary["n_places_drawn"]) == (6 * 15, 6 * 2)
    drawn = {(line["task_id"], line["decision"]) for line in lines_of(tmp_path)}
    assert len(drawn) == 12
    (tmp_path / "resample").rename(tmp_path / "first")
    resample(tmp_path, parts, continuations=2, max_nodes=2)
    assert {(line["task_id"], line["decision"]) for line in lines_of(tmp_path)} == drawn


def test_what_breaks_is_counted_never_scored_and_played_again(tmp_path):
    search(tmp_path, parts_of(lucky(0.0)))
    moves = iter(range(10**6))

    def breaks_often(situation):
        if next(moves) % 3 == 0:
            raise RuntimeError("no answer")
        return lucky(1.0)(situation)

    first = resample(tmp_path, parts_of(breaks_often))["labels"]["failed"]
    assert first["n_broken"] > 0
    assert first["n_continuations"] + first["n_broken"] == 96
    assert first["p_success"]["value"] == 1.0
    mended = resample(tmp_path, parts_of(lucky(1.0)))["labels"]["failed"]
    assert (mended["n_broken"], mended["n_continuations"]) == (0, 96)


def breaks(situation):
    raise RuntimeError("no answer")


def is_out(situation):
    raise OutageError("nobody there")


def leaks_cancellation(situation):
    raise asyncio.CancelledError


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (breaks, "all 96 continuations broke; .*resample.jsonl"),
        (leaks_cancellation, "all 96 continuations broke"),
        (is_out, "5 dialogues in a row were lost to outages, the last so: .*nobody there"),
    ],
)
def test_when_everything_breaks_there_is_no_result(tmp_path, act, message):
    search(tmp_path, parts_of(lucky(0.0)))
    with pytest.raises(RunError, match=message):
        resample(tmp_path, parts_of(act))


class RandomSession(CountingSession):
    async def call(self, call):
        return ToolResult(random.random())


class RandomWorld(CountingWorld):
    def open(self, task):
        return RandomSession()


def test_a_world_that_draws_at_random_is_named_as_the_cause(tmp_path):
    act = lambda s: say() if s.steps else hit("other")  # noqa: E731
    search(tmp_path, parts_of(act, world=RandomWorld()))
    with pytest.raises(RunError, match="all 96 continuations broke"):
        resample(tmp_path, parts_of(act, world=RandomWorld()))
    cause = lines_of(tmp_path, "resample")[0]["failure"]
    assert "other gives another result than is stored" in cause


def test_only_a_folder_inside_of_a_run_of_the_same_config_is_taken(tmp_path):
    parts = parts_of(lucky(0.0))
    with pytest.raises(RunError, match=r"start it with `drl resample RUN`"):
        resample(tmp_path, parts)
    search(tmp_path, parts)
    (tmp_path / "resample" / "provenance.json").unlink()
    other = replace(parts, config={**parts.config, "seed": 1})
    with pytest.raises(RunError, match=r"made with another config \(seed differ\)"):
        resample(tmp_path, other)


def test_a_second_start_with_other_settings_is_refused(tmp_path):
    parts = parts_of(lucky(0.3))
    search(tmp_path, parts)
    resample(tmp_path, parts, continuations=1)
    with pytest.raises(RunError, match=r"another config \(trainer.continuations differ\)"):
        resample(tmp_path, parts, continuations=2)


def test_data_that_has_changed_since_is_refused(tmp_path):
    parts = parts_of(lucky(0.0))
    search(tmp_path, parts)
    changed = NumberedTasks(6, ("goal_0",), version="numbered-2")
    with pytest.raises(RunError, match="made on data numbered-1, but numbered-2 is there now"):
        resample(tmp_path, replace(parts, dataset=changed))


def test_trees_without_a_choice_are_refused(tmp_path):
    parts = parts_of(lucky(0.0), rollout=replace(JOSH, beam_size=1))
    search(tmp_path, parts)
    with pytest.raises(RunError, match="none of its 6 trees has a place"):
        resample(tmp_path, parts)


@pytest.mark.parametrize("settings", [{"continuations": 0}, {"max_nodes": 0}])
def test_counts_below_one_are_refused(settings):
    with pytest.raises(ConfigError, match=r"trainer\.\w+=0 must be at least 1"):
        ResampleTrainer(**{"continuations": 8, "max_nodes": None, "seed": 0} | settings)
