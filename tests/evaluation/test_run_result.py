import json
from pathlib import Path

import pytest
from scripted import task_of

from drl.errors import RunError
from drl.evaluation.run_result import read_result
from drl.tree.dialogue_tree import DialogueTree
from drl.tree.store import RolloutStore
from drl.types import Role, Step, StopReason, Turn

CONFIG = {
    "agent": {"_target_": "drl.agent.rule.RuleAgent"},
    "rollout": {"_target_": "drl.rollout.single.SingleRollout"},
    "trainer": {"_target_": "drl.trainer.evaluate.EvaluateTrainer", "trials": 2},
}
TASKS = [task_of("a", id=name) for name in "abc"]


def tree(task: str, score: float | None, trial: int = 0, stop=StopReason.MAX_TURNS) -> DialogueTree:
    """One answer of two steps, graded."""
    grown = DialogueTree(task, trial, 1)
    answer = grown.add(None, Turn(Role.AGENT, "x", steps=(Step("a"), Step("b"))), (0,))
    answer.stop, answer.score = stop, score
    return grown


def folder_with(folder: Path, *trees: DialogueTree, **changes) -> Path:
    """A run folder with these rollouts, as a run that was killed leaves it."""
    with RolloutStore(folder) as store:
        for grown in trees:
            store.append(grown)
    provenance = {"config": {**CONFIG, **changes}, "data_version": "d-1", "code": "c"}
    (folder / "provenance.json").write_text(json.dumps(provenance))
    return folder


def test_a_run_is_read_by_task_and_trial_with_what_is_missing(tmp_path):
    broken = tree("b", None, 1, StopReason.ERROR)
    folder = folder_with(tmp_path, tree("a", 1.0), tree("a", 0.5, 1), tree("b", 0.0), broken)
    result = read_result(folder, TASKS)
    assert result.values["mean_reward"] == {"a": [1.0, 0.5], "b": [0.0]}
    assert result.values["full_success"] == {"a": [1.0, 0.0], "b": [0.0]}
    assert result.values["agent_calls"] == {"a": [2, 2], "b": [2, 2]}
    assert result.values["num_turns"]["a"] == [1, 1]
    assert result.task_ids == frozenset("abc")
    # c was never played; what broke was
    assert (result.num_trials, result.num_missing, result.num_broken) == (2, 2, 1)
    assert (result.kind, result.data_version, result.code) == ("policy", "d-1", "c")
    assert result.notes == ()


def test_tries_that_all_succeed_are_counted_for_each_number_of_tries(tmp_path):
    scores = {"a": (1.0, 1.0, 0.0), "b": (1.0, 1.0, 1.0), "c": (1.0, 0.0)}
    grown = [tree(task, s, n) for task, each in scores.items() for n, s in enumerate(each)]
    result = read_result(folder_with(tmp_path, *grown), TASKS)
    # of a two of three tries succeed: C(2, 2) / C(3, 2) = 1/3; c has no three tries
    assert result.values["pass^2"] == {"a": [pytest.approx(1 / 3)], "b": [1.0], "c": [0.0]}
    assert result.values["pass^3"] == {"a": [0.0], "b": [1.0]}
    assert list(result.values)[:4] == ["mean_reward", "full_success", "pass^2", "pass^3"]


def test_where_the_tasks_cannot_be_had_scores_and_calls_are_left(tmp_path):
    result = read_result(folder_with(tmp_path, tree("a", 1.0), tree("a", 1.0, 1)))
    assert set(result.values) == {"mean_reward", "full_success", "pass^2", "agent_calls"}
    assert result.task_ids == frozenset("a")
    assert result.num_missing == 0
    (note,) = result.notes
    assert note.endswith(": its config has no dataset; name another run")


@pytest.mark.parametrize(
    ("split", "reason"),
    [
        ("test", "it was played on data d-1, but tasks.jsonl"),
        ("val", "dataset.split=val"),
    ],
)
def test_tasks_of_data_that_has_changed_since_are_not_used(tmp_path, split, reason):
    tasks = tmp_path / "tasks.jsonl"
    line = {"id": "a", "instructions": ["z"], "goals": [], "split": "test"}
    tasks.write_text(json.dumps(line) + "\n")
    node = {
        "_target_": "drl.dataset.jsonl_tasks.JsonlTasksDataset",
        **{"path": str(tasks), "split": split, "ids": None, "shuffle": None, "start": 0},
        **{"limit": None, "shard": 0, "num_shards": 1},
    }
    result = read_result(folder_with(tmp_path, tree("a", 1.0), dataset=node))
    (note,) = result.notes
    assert reason in note


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"rollout": {"_target_": "drl.rollout.josh.JoshRollout"}}, "search"),
        ({"agent": {"_target_": "drl.agent.oracle.OracleAgent"}}, "ceiling"),
    ],
)
def test_searches_and_ceilings_are_told_from_policies(tmp_path, changes, kind):
    assert read_result(folder_with(tmp_path, tree("a", 1.0), **changes)).kind == kind


def test_what_holds_no_run_is_refused(tmp_path):
    lack = r"has no rollouts.jsonl and no provenance.json, so there is no run to compare"
    with pytest.raises(RunError, match=lack):
        read_result(tmp_path)
    folder_with(tmp_path, tree("a", None, 0, StopReason.ERROR), tree("b", None))
    with pytest.raises(RunError, match=r"none of its 2 rollouts is scored \(1 broken\)"):
        read_result(tmp_path)
    (tmp_path / "provenance.json").unlink()
    with pytest.raises(RunError, match=r"has no provenance.json"):
        read_result(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "provenance.json: cannot be read"),
        ("{}", "provenance.json: holds no config"),
        ('{"config": {}}', "its rollout None is not there"),
    ],
)
def test_a_damaged_provenance_is_one_clear_line(tmp_path, text, message):
    folder_with(tmp_path, tree("a", 1.0))
    (tmp_path / "provenance.json").write_text(text)
    with pytest.raises(RunError, match=message):
        read_result(tmp_path)
