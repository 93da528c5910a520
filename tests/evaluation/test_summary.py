import asyncio
from dataclasses import replace

import pytest
from scripted import ScriptedAgent, cast_of, hit, say, task_of

from drl.evaluation.summary import tally
from drl.rollout.single import SingleRollout
from drl.tree.dialogue_tree import DialogueTree
from drl.types import Failure, Role, StopReason, Turn


def rolled(task, act) -> DialogueTree:
    rollout = SingleRollout(max_steps=1, max_calls=None, concurrency=1)
    return asyncio.run(rollout.run(task, 0, cast_of(ScriptedAgent(act))))


def broken(task) -> DialogueTree:
    tree = DialogueTree(task.id, 0, 1)
    tree.add(None, Turn(Role.USER, "", failure=Failure("llm", "down")), ()).stop = StopReason.ERROR
    return tree


def test_errors_and_unscored_dialogues_are_counted_and_never_averaged():
    won, half, bare = task_of("a", id="1"), task_of("a", "b", id="2"), task_of(id="3")
    lost = task_of("a", id="4")
    reach = lambda s: say() if s.steps else hit("a")  # noqa: E731
    trees = [rolled(won, reach), rolled(half, reach), rolled(bare, reach), broken(lost)]
    summary = tally([won, half, bare, lost], trees).to_json()
    assert summary["n_tasks"] == 4
    assert (summary["n_scored"], summary["n_errors"], summary["n_unscored"]) == (2, 1, 1)
    assert summary["mean_reward"]["value"] == pytest.approx(0.75)
    assert summary["full_success"]["value"] == pytest.approx(0.5)
    assert summary["per_goal_kind"]["b"]["value"] == 0
    assert summary["per_goal_kind"]["a"] == {"value": 1, "low": 1, "high": 1, "n": 2}
    assert summary["error_causes"] == {"llm: down": 1}


def test_goals_that_no_reward_closes_are_not_reported_as_missed():
    task = replace(task_of("a"), groups={"user": "seen"})
    tree = rolled(task, lambda _: say())
    assert tally([task], [tree]).to_json()["per_goal_kind"]["a"]["value"] == 0
    summary = tally([task], [tree], counts_goals=False).to_json()
    assert summary["per_goal_kind"] == summary["per_domain"] == {}
    assert summary["per_group"].keys() == {"user: seen"}


def test_trials_of_one_task_are_kept_together():
    task = task_of("a")
    hits = rolled(task, lambda s: say() if s.steps else hit("a"))
    misses = replace(rolled(task, lambda _: say()), trial=1)
    summary = tally([task], [hits, misses]).to_json()
    assert summary["n_trials"] == 2
    assert summary["mean_reward"] == {"value": 0.5, "low": 0.5, "high": 0.5, "n": 1}
    assert summary["pass_hat_k"]["1"]["value"] == 0.5
    assert summary["pass_hat_k"]["2"]["value"] == 0


def test_groups_of_tasks_are_reported_apart():
    reach = lambda s: say() if s.steps else hit("a")  # noqa: E731
    seen = replace(task_of("a", "b", id="1"), groups={"user": "seen"})  # reaches 1 of 2
    new = replace(task_of("a", id="2"), groups={"user": "unseen"})
    other = task_of("a", id="3")
    tasks = [seen, new, other]
    groups = tally(tasks, [rolled(task, reach) for task in tasks]).to_json()["per_group"]
    assert groups == {
        "user: seen": {"value": 0.5, "low": 0.5, "high": 0.5, "n": 1},
        "user: unseen": {"value": 1, "low": 1, "high": 1, "n": 1},
    }
