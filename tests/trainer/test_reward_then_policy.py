"""From generated recordings to a policy and its test, with a tiny encoder and a tiny model."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from drl.dataset.base import SessionDataset
from drl.errors import ConfigError, DataError
from drl.evaluation.study_samples import read_samples
from drl.launch import register_resolvers, run
from drl.trainer._policy_checks import check_stages
from drl.trainer._policy_units import unit_of
from drl.trainer._session_halves import HalfOfSessions
from drl.trainer._turn_model_nodes import turn_models, with_model
from drl.tree.store import read_trees
from drl.turn_reward.session import Session
from drl.types import Brief, Task
from tests.trainer.policy_runs import CONF, build_world, command
from tests.trainer.recorded import sessions


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return build_world(tmp_path_factory.mktemp("world"))


def summary_of(folder):
    return json.loads((folder / "summary.json").read_text())


@pytest.fixture(scope="module")
def finished(world):
    register_resolvers()
    return run(CONF, command(world, world / "run"))


@pytest.mark.slow
def test_a_run_tells_the_course_the_choice_and_the_test(finished):
    summary = summary_of(finished)
    assert summary["synthetic"]
    assert "no evidence about CANDOR" in summary["notes"][0]
    assert set(summary["agreement_at_start"]) == {
        *("proxy_and_judge", "proxy_and_hidden", "judge_and_hidden")
    }
    assert [row["update"] for row in summary["course"]] == [0, 1, 2]
    start, _, last = summary["course"]
    assert start["kl"]["value"] == 0.0
    assert last["kl"]["value"] > 0.0
    assert last["judge"]["n"] == start["judge"]["n"] >= 2
    assert start["best_of_n"]["n"] == 1
    assert summary["choice"]["update"] in (0, 1, 2)
    assert summary["test"]["contexts"] == 6
    assert {"proxy and judge by KL", "hidden by KL", "kl by update"} <= set(summary["curves"])
    assert (finished / "report.html").is_file()


@pytest.mark.slow
def test_the_judge_learned_from_other_conversations_than_the_reward(finished):
    counts = [
        summary_of(finished / stage)["dataset"]["training_conversations"]
        for stage in ("stage-1/reward_model", "stage-2/judge")
    ]
    configs = [
        json.loads((finished / stage / "provenance.json").read_text())["config"]
        for stage in ("stage-1/reward_model", "stage-2/judge")
    ]
    assert abs(counts[0] - counts[1]) <= 1
    assert [config["half"] for config in configs] == [0, 1]
    assert configs[0]["seed"] != configs[1]["seed"]


@pytest.mark.slow
def test_what_is_measured_is_what_the_policy_was_paid(finished):
    """The proxy of a reply is the very reward that its rollout earned."""
    folder = finished / "stage-3" / "learn" / "update-2" / "evaluate"
    measured = json.loads((finished / "measured-stage-3-learn-update-2-evaluate.json").read_text())[
        "replies"
    ]
    paid = {
        tree.task_id: leaf.score
        for tree in read_trees(folder / "rollouts.jsonl")
        for leaf in tree.leaves()
    }
    assert {each["task_id"]: each["measures"]["proxy"] for each in measured} == (
        pytest.approx(paid, rel=1e-5)  # as exact as an encoder is whatever the batch
    )


@pytest.mark.slow
def test_replies_of_the_test_wait_for_people_to_judge_them(finished):
    samples = read_samples(finished)
    assert len(samples) == 6
    has_policy = summary_of(finished)["choice"]["update"] > 0
    expected = {"start", "human"} | ({"chosen"} if has_policy else set())
    assert set(samples[0].candidates) == expected
    assert samples[0].context[-1].role == "user"
    assert len(samples[0].context) <= 3


@pytest.mark.slow
def test_a_run_that_was_killed_and_moved_goes_on_and_ends_as_one_that_was_not(
    finished, world, tmp_path
):
    moved = tmp_path / "moved"
    shutil.copytree(finished, moved)
    for name in ("stage-2", "stage-4", "stage-5", "data"):
        shutil.rmtree(moved / name)
    for name in ("summary.json", "report.html"):
        (moved / name).unlink()
    for path in moved.glob("measured-*.json"):
        path.unlink()
    kept = [
        *moved.glob("stage-1/**/*.safetensors"),
        *moved.glob("stage-3/**/*.safetensors"),
        *moved.glob("stage-3/**/rollouts.jsonl"),
    ]
    before = [path.stat().st_mtime_ns for path in kept]
    assert len(kept) == 2 + 3 + 4  # heads and model; two updates and the end; plays and evaluations
    run(CONF, command(world, moved))
    assert [path.stat().st_mtime_ns for path in kept] == before
    whole, resumed = summary_of(finished), summary_of(moved)
    assert resumed["choice"] == whole["choice"]
    for one, other in zip(whole["course"], resumed["course"], strict=True):
        for name in ("proxy", "judge", "kl", "words"):
            assert other[name] == pytest.approx(one[name], abs=1e-4)
    assert read_samples(moved) == read_samples(finished)


@pytest.mark.slow
def test_a_run_that_is_over_is_only_told_of(finished, world, capsys):
    before = (finished / "summary.json").stat().st_mtime_ns
    run(CONF, command(world, finished))
    assert (finished / "summary.json").stat().st_mtime_ns == before
    said = capsys.readouterr().out
    assert "Chosen: update" in said
    assert "no evidence about CANDOR" in said


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (["reward.model=elsewhere"], r"reward\.model=elsewhere is not used.*stage-1/reward_model"),
        (["trainer.halves=false"], r"same encoder.*trainer\.halves=true"),
        (["trainer.learn.evaluate_trials=0"], "no replies to choose a checkpoint by"),
        (["trainer.learn.weights.train=all"], r"weights\.train=all.*set it to lora"),
        (["trainer.draws=0"], r"trainer\.draws=0 must be at least 1"),
        (["eval_dataset.split=test"], r"trainer\.test_split=test must differ"),
        (["rollout.max_steps=2"], r"with rollout\.max_steps=1"),
        (["eval_rollout.max_steps=2"], r"with eval_rollout\.max_steps=1"),
        (["llm.adapter=somewhere"], "merge it first"),
    ],
)
def test_what_no_stage_can_use_is_refused_before_the_first(world, tmp_path, changes, message):
    register_resolvers()
    with pytest.raises(ConfigError, match=message):
        run(CONF, [*command(world, tmp_path / "run"), *changes])
    assert not (tmp_path / "run" / "stage-1").exists()


def test_conversations_that_are_learned_on_and_report_are_refused(world, tmp_path):
    # both datasets name their parts by other shares, so a training conversation is in val
    changes = ("dataset.division.val_share=0.1", "eval_dataset.division.val_share=0.6")
    with pytest.raises(ConfigError, match=r"contexts of dataset and of eval_dataset; divide both"):
        run(CONF, command(world, tmp_path / "run", *changes))


OTHER = {"_target_": "drl.trainer.evaluate.EvaluateTrainer", "trials": 1}
MODEL = {
    "_target_": "drl.trainer.reward_model.RewardModelTrainer",
    "encoder": {"model": "small", "pooling": "auto"},
}
LARGE = {**MODEL, "encoder": {"model": "large", "pooling": "auto"}}


def test_stages_that_make_no_turn_reward_model_are_refused():
    with pytest.raises(ConfigError, match=r"trainer@trainer\.judge=reward_model/geli"):
        check_stages({"reward_model": MODEL, "judge": OTHER}, halves=True)


def test_a_judge_of_the_same_conversations_has_another_encoder():
    check_stages({"reward_model": MODEL, "judge": LARGE}, halves=False)
    check_stages({"reward_model": MODEL, "judge": MODEL}, halves=True)
    with pytest.raises(ConfigError, match="would repeat the reward's faults"):
        check_stages({"reward_model": MODEL, "judge": MODEL}, halves=False)


def test_a_reward_may_hold_the_model_among_others():
    model = {
        "_target_": "drl.reward.turn_model.TurnModelReward",
        "model": "stage-1/reward_model",
        "scale": 2.0,
    }
    other = {"_target_": "drl.reward.function.FunctionReward", "function": "a.py:f"}
    node = {"_target_": "drl.reward.weighted.WeightedReward", "rewards": {"a": other, "b": model}}
    assert turn_models(node) == [model]
    assert turn_models(other) == []
    found = with_model(node, Path("here"), 0.5)
    told = {**model, "model": "here", "scale": 4.0}
    assert found == {**node, "rewards": {"a": other, "b": told}}


def test_halves_share_no_training_conversation_and_all_of_the_rest():
    whole = Recorded(sessions(num_train=5))
    first, second = (
        {each.id for each in HalfOfSessions(whole=whole, half=half, seed=0).sessions()}
        for half in (0, 1)
    )
    held_out = {each.id for each in whole.given if each.split != "train"}
    assert first & second == held_out
    assert first | second == {each.id for each in whole.given}
    assert {len(first - held_out), len(second - held_out)} == {2, 3}


def test_one_conversation_cannot_be_halved():
    one = Recorded(sessions(num_train=1))
    with pytest.raises(DataError, match=r"cannot be halved.*trainer\.halves=false"):
        HalfOfSessions(whole=one, half=0, seed=0).sessions()


@dataclass
class Recorded(SessionDataset):
    """Sessions that are given."""

    given: list[Session]
    target = "overall_affect"
    version = "recorded-1"
    score_range = (1.0, 9.0)
    is_synthetic = False
    folder = Path()

    def sessions(self):
        return self.given

    def report(self):
        return {}

    def load(self):
        return []


class FirstLetters:
    """Rewards 1 for replies that begin with an A, 0 for others."""

    def rewards_of(self, asked):
        return [float(said[place].text.startswith("A")) for said, place in asked]


def human(number, text):
    world = {"conversation_id": str(number), "human_reply": text}
    return Task(str(number), "train", Brief(()), (), world=world)


def test_the_unit_of_a_reward_is_its_deviation_over_human_replies():
    # 1, 0, 0, 0: mean 1/4, variance 3/16
    tasks = [human(number, text) for number, text in enumerate(("A", "B", "C", "D"))]
    model: Any = FirstLetters()
    assert unit_of(model, tasks) == pytest.approx(3**0.5 / 4, rel=2e-3)
    with pytest.raises(DataError, match=r"finds 2 human replies alike.*train it longer"):
        unit_of(model, tasks[1:3])
