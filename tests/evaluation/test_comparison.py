from dataclasses import replace

import pytest

from drl.errors import ConfigError, RunError
from drl.evaluation.comparison import Comparison, compare_all
from drl.evaluation.run_result import RunResult

TASKS = [f"task {number}" for number in range(20)]
CONFIG = {
    "name": "x",
    "dataset": {"_target_": "D", "limit": 20},
    "environment": {"_target_": "E", "mode": "faithful"},
    "user_simulator": {"_target_": "U", "phrasing": "train"},
    "reward": {"_target_": "R", "judge_against": "task"},
    "agent": {"_target_": "A", "temperature": 0.0},
    "rollout": {"_target_": "L", "max_steps": 15, "concurrency": 64},
    "llm": {"_target_": "M", "adapter": None},
}


def run(name: str, rewards: list[list[float]], **changes) -> RunResult:
    """A run with these rewards by task and trial; 1 is a full success."""
    values = dict(zip(TASKS, rewards, strict=False))
    full = {task: [float(x == 1) for x in trials] for task, trials in values.items()}
    result = RunResult(
        name=name,
        config=CONFIG,
        kind="policy",
        data_version="d-1",
        code="c",
        task_ids=frozenset(values),
        num_trials=max(map(len, rewards)),
        num_missing=0,
        num_broken=0,
        num_unscored=0,
        values={
            "mean_reward": values,
            "full_success": full,
            "agent_calls": {task: [3.0 * len(t)] for task, t in values.items()},
        },
    )
    return replace(result, **changes)


def config(group: str, **settings) -> dict:
    """The config with other settings in one group."""
    return {**CONFIG, group: {**CONFIG[group], **settings}}


def compare_runs(base: RunResult, other: RunResult, **settings) -> Comparison:
    """One run against another."""
    return compare_all(base, [other], **settings)[0]


LOW = run("low", [[0.0]] * 20)
HIGH = run("high", [[1.0]] * 15 + [[0.0]] * 5)


def test_the_better_run_wins_whichever_stands_first():
    up, down = compare_runs(LOW, HIGH), compare_runs(HIGH, LOW)
    assert up.winner is HIGH
    assert down.winner is HIGH
    assert up.measures["mean_reward"].difference.value == 0.75
    assert down.measures["mean_reward"].difference.value == -0.75
    assert up.verdict.startswith("high is better than low: mean reward by 0.750 (0.5")
    assert down.verdict == up.verdict
    assert up.reasons == []


def test_headline_measures_are_corrected_for_each_other_and_for_the_arms():
    # six tasks of one sign: p = 2 / 2^6; two measures double it, two arms of them quadruple it
    base, other = run("base", [[0.0]] * 6), run("other", [[1.0]] * 6)
    alone = compare_runs(base, other)
    assert alone.num_tests == 2
    assert alone.measures["mean_reward"].p_holm == pytest.approx(2 * 2 / 64)
    assert alone.winner is None
    assert "chance gives as much with p=0.0625" in alone.verdict
    both = compare_all(base, [other, replace(other, name="third")])
    assert [c.measures["full_success"].p_holm for c in both] == pytest.approx([4 * 2 / 64] * 2)
    # a measure that was chosen beforehand stands alone
    chosen = compare_runs(base, other, metrics=["mean_reward"])
    assert chosen.measures["mean_reward"].p_holm == pytest.approx(2 / 64)
    assert chosen.measures["full_success"].p_holm is None
    assert chosen.winner is other


def test_what_stays_within_chance_names_no_winner_but_what_would_have_been_needed():
    # 6 gains and 4 losses of 20: interval and noise floor reach beyond the difference of 0.1
    base = run("base", [[0.0]] * 6 + [[1.0]] * 4 + [[0.0]] * 10)
    other = run("other", [[1.0]] * 6 + [[0.0]] * 4 + [[0.0]] * 10)
    found = compare_runs(base, other)
    measure = found.measures["mean_reward"]
    # variance of the gaps: (10 - 20 x 0.1^2) / 19
    spread = ((10 - 0.2) / 19) ** 0.5
    assert measure.floor.value == pytest.approx(1.96 * spread / 20**0.5, rel=1e-3)
    assert measure.detectable == pytest.approx(2.8 * spread / 20**0.5, rel=0.1)
    assert found.winner is None
    assert found.is_comparable
    assert "mean reward: no difference shown, at least 0.3" in found.verdict


def test_trials_that_vary_more_than_the_runs_differ_name_no_winner():
    # every task gains 1/4 (0.5 to 0.75), but its own four trials scatter over all of [0, 1]
    base = run("base", [[0, 0, 1, 1]] * 6)
    other = run("other", [[0, 1, 1, 1]] * 6)
    found = compare_runs(base, other, metrics=["mean_reward"])
    measure = found.measures["mean_reward"]
    assert (measure.difference.low, measure.difference.high) == (0.25, 0.25)
    # pooled variance: (1 + 0.75) / 6; 12 times four trials; over 6 tasks; times 1.96
    assert measure.floor.value == pytest.approx(1.96 * (1.75 / 6 * 3) ** 0.5 / 6, rel=1e-3)
    assert found.winner is None
    assert found.reasons == [
        "mean reward: no difference shown, at least 0.306 would have been needed"
    ]


def test_runs_that_came_out_alike_have_no_winner():
    found = compare_runs(LOW, replace(LOW, name="again"))
    assert found.winner is None
    assert "mean reward: no difference shown, every task came out alike" in found.reasons
    assert found.measures["mean_reward"].detectable is None


def test_one_task_shows_nothing():
    found = compare_runs(run("a", [[0.0]]), run("b", [[1.0]]))
    assert found.winner is None
    assert "too few tasks are paired" in found.verdict


def test_headline_measures_that_disagree_have_no_winner():
    # fewer full successes, yet a higher mean
    base = run("base", [[1.0]] * 9 + [[0.0]] * 11)
    other = run("other", [[0.9]] * 20)
    found = compare_runs(base, other)
    assert [m.is_shown for m in found.deciding.values()] == [True, True]
    assert found.reasons == ["the measures that decide point in opposite directions"]


def test_fewer_calls_are_no_victory():
    calls = {task: [9.0] for task in TASKS}
    found = compare_runs(
        LOW, replace(HIGH, values={**HIGH.values, "agent_calls": calls}), metrics=["agent_calls"]
    )
    assert found.measures["agent_calls"].is_shown
    assert found.winner is None
    assert found.reasons == ["agent calls differs, but is no measure of success"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"kind": "search"}, "one is a policy, the other a search"),
        ({"kind": "ceiling"}, "one is a policy, the other a ceiling"),
        ({"data_version": None}, "a data version is unknown (d-1 and unknown)"),
        (
            {"config": config("user_simulator", phrasing="heldout")},
            "user_simulator differs (user_simulator.phrasing)",
        ),
        (
            {"config": config("environment", mode="fixed")},
            "environment differs (environment.mode)",
        ),
        ({"config": {**CONFIG, "score": {"_target_": "S"}}}, "score differs (score._target_"),
        ({"config": config("reward", judge_against="open")}, "reward differs (reward.judge_"),
        ({"config": config("rollout", max_steps=8)}, "rollout differs (rollout.max_steps)"),
        ({"config": config("dataset", limit=30)}, "dataset differs (dataset.limit)"),
        (
            {"config": {**CONFIG, "user_llm": {"_target_": "M"}}},
            "user_llm differs (user_llm._target_)",
        ),
        ({"config": {**CONFIG, "curriculum": "easy"}}, "curriculum differs (curriculum)"),
        ({"num_missing": 7}, "high is not finished (7 rollouts are missing"),
        ({"task_ids": HIGH.task_ids | {"more"}}, "task sets differ (20 and 21, 20 shared)"),
    ],
)
def test_runs_that_differ_in_more_than_their_policies_are_shown_without_a_winner(changes, reason):
    found = compare_runs(LOW, replace(HIGH, **changes))
    assert found.winner is None
    assert not found.is_comparable
    assert len(found.reasons) == 1
    assert reason in found.reasons[0]
    assert found.verdict.startswith("Not comparable, so no winner: ")
    assert found.measures["mean_reward"].other.value == 0.75


def test_runs_on_two_versions_of_data_never_stand_in_one_table():
    with pytest.raises(RunError, match=r"low was played on data d-1, and high on d-2; versions"):
        compare_runs(LOW, replace(HIGH, data_version="d-2"))


def test_a_score_that_is_the_reward_by_default_is_the_same_score():
    named = {**CONFIG, "score": CONFIG["reward"]}
    assert compare_runs(LOW, replace(HIGH, config=named)).is_comparable


def test_what_belongs_to_the_policy_or_to_the_machine_may_differ():
    other = config("agent", temperature=1.0) | {"seed": 5, "data_dir": "elsewhere"}
    other |= {"llm": {"_target_": "M", "adapter": "run"}, "miner": {"_target_": "N"}}
    other["credit"] = {"_target_": "C"}
    other["rollout"] = {**CONFIG["rollout"], "concurrency": 8}
    found = compare_runs(LOW, replace(HIGH, config=other))
    assert found.winner is not None
    differ = found.to_json()["settings_that_differ"]
    parts = ["agent.temperature", "credit", "llm.adapter", "miner", "rollout.concurrency", "seed"]
    assert differ == parts


def test_another_plug_in_stands_for_its_settings():
    other = {**CONFIG, "agent": {"_target_": "B", "style": "full"}}
    found = compare_runs(LOW, replace(HIGH, config=other)).to_json()
    assert found["settings_that_differ"] == ["agent._target_"]


def test_different_tasks_are_paired_only_when_asked_and_never_name_a_winner():
    few = run("few", [[0.0]] * 10)
    apart = compare_runs(few, HIGH).measures["mean_reward"]
    assert (apart.difference, apart.p_holm) == (None, None)
    assert (apart.base.n, apart.other.n) == (10, 20)
    paired = compare_runs(few, HIGH, only_shared=True)
    measure = paired.measures["mean_reward"]
    assert (measure.base.n, measure.other.n, measure.other.value) == (10, 10, 1.0)
    assert (measure.difference.value, measure.is_shown) == (1.0, True)
    assert paired.winner is None


def test_many_tasks_without_a_score_forbid_a_winner_and_few_are_remarked():
    def lost(count: int) -> RunResult:
        kept = {task: [1.0] for task in TASKS[count:]}
        values = {"mean_reward": kept, "full_success": kept}
        return replace(HIGH, values=values, num_broken=count)

    one = compare_runs(LOW, lost(1))
    assert one.winner is not None
    assert "high: 1 broken and 0 unscored rollouts are left out" in one.to_json()["remarks"]
    assert compare_runs(LOW, lost(2)).obstacles == (
        "only 18 of 20 shared tasks have a score in both",
    )


def test_two_searches_are_compared_as_such():
    found = compare_runs(replace(LOW, kind="search"), replace(HIGH, kind="search")).to_json()
    assert found["winner"] == "high"
    assert found["remarks"] == ["each is a search: this is not what their agents do alone"]


def test_runs_without_a_common_task_and_unknown_measures_are_refused():
    strangers = {"mean_reward": {"other": [1.0]}, "full_success": {"other": [1.0]}}
    with pytest.raises(RunError, match="low and high share no task that is scored in both"):
        compare_runs(LOW, replace(HIGH, values=strangers))
    with pytest.raises(ConfigError, match="metric=luck is not measured in both runs; known: mean_"):
        compare_runs(LOW, HIGH, metrics=["luck"])


def test_the_number_of_trials_and_all_numbers_are_in_the_record():
    record = compare_runs(LOW, run("often", [[1.0, 0.0]] * 20)).to_json()
    assert record["n_trials"] == {"base": 1, "other": 2}
    assert record["remarks"] == ["trials a task differ: 1 and 2"]
    assert record["measures"]["mean_reward"]["noise_floor"]["source"] == "trials"
    assert set(record["measures"]["mean_reward"]["difference"]) == {
        "value",
        "low",
        "high",
        "n",
        "p",
    }
    assert record["measures"]["agent_calls"]["shown"] is None
