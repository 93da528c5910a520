import pytest

from drl.evaluation.matrix import compare_users, user_result
from drl.tree.dialogue_tree import DialogueTree
from drl.types import Role, Step, StopReason, Turn


def tree(task: str, score: float | None, trial: int = 0, stop=StopReason.MAX_TURNS) -> DialogueTree:
    """One answer of two steps, graded."""
    grown = DialogueTree(task, trial, 1)
    answer = grown.add(None, Turn(Role.AGENT, "x", steps=(Step("a"), Step("b"))), (0,))
    answer.stop, answer.score = stop, score
    return grown


def test_a_customer_is_summed_up_by_task_and_what_broke_is_only_counted():
    found = user_result(
        [
            tree("a", 1.0),
            tree("a", 0.0, 1),
            tree("b", 1.0),
            tree("c", None),
            tree("d", None, 0, StopReason.ERROR),
        ]
    ).to_json()
    # a: 1/2 over its trials, b: 1
    assert found["mean_reward"]["value"] == found["full_success"]["value"] == 0.75
    assert found["mean_reward"]["n"] == 2
    assert found["agent_calls"] == {"value": 2.0, "low": 2.0, "high": 2.0, "n": 4}
    assert (found["n_errors"], found["n_unscored"]) == (1, 1)


def test_each_customer_is_compared_with_the_first_over_the_tasks_of_both():
    tasks = "abcdef"
    matrix = compare_users(
        {
            "first": user_result([tree(task, 1.0) for task in tasks]),
            "harsh": user_result([tree(task, 0.0) for task in tasks[:5]]),
            "same": user_result([tree(task, 1.0) for task in tasks]),
        }
    )
    assert matrix["against"] == "first"
    gaps = matrix["differences"]["mean_reward"]
    assert list(gaps) == ["harsh", "same"]
    assert (gaps["harsh"]["value"], gaps["harsh"]["n"]) == (-1.0, 5)
    # five tasks of one sign: 2 of 32 choices of signs are as extreme; two customers double it
    assert gaps["harsh"]["p"] == pytest.approx(2 / 32)
    assert gaps["harsh"]["p_holm"] == pytest.approx(4 / 32)
    assert (gaps["same"]["value"], gaps["same"]["p_holm"]) == (0.0, 1.0)


def test_without_a_shared_task_there_is_no_difference():
    matrix = compare_users({"x": user_result([tree("a", 1.0)]), "y": user_result([])})
    assert matrix["differences"]["full_success"] == {}
    assert matrix["users"]["y"]["mean_reward"] is None
