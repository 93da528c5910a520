"""Cases with right answers, obtained by running josh-train 0.1.4.

The folder is that of the environment variable DRL_FIXTURES, so that more cases can be tried.
"""

import asyncio
import json
import math
import os
from pathlib import Path
from typing import Any

import pytest

from drl.domains.toolwoz.world import World
from drl.environment.toolwoz import ToolWOZEnvironment
from drl.types import Brief, Goal, Task, ToolCall, ToolResult

pytestmark = pytest.mark.fixtures

FOLDER = Path(os.environ.get("DRL_FIXTURES", Path(__file__).parents[1] / "fixtures"))
CASES = json.loads((FOLDER / "toolwoz_examples.json").read_text(encoding="utf-8"))
DIALOGUES = [pytest.param(case, id=case["id"]) for case in CASES["dialogues"]]
CALLS = [
    pytest.param(case, id=f"{number}-{case['call']['name']}")
    for number, case in enumerate(CASES["api_behaviour_cases"])
]
ENVIRONMENT = ToolWOZEnvironment(mode="faithful")

Json = Any  # the fixtures are plain JSON


def task_of(world: World, dialogue_id: str) -> Task:
    scene = world.scene(dialogue_id)
    return Task(dialogue_id, "test", Brief(()), scene.derived.goals, scene)


def play(task: Task, calls: list[ToolCall]) -> list[ToolResult]:
    async def run() -> list[ToolResult]:
        session = ENVIRONMENT.open(task)
        return [await session.call(call) for call in calls]

    return asyncio.run(run())


def missed(task: Task, calls: list[ToolCall], results: list[ToolResult]) -> list[str]:
    attempts = list(zip(calls, results, strict=True))
    return [
        goal.kind
        for goal in task.goals
        if not any(ENVIRONMENT.achieves(goal, *attempt, task.goals) for attempt in attempts)
    ]


def as_fixture(goal: Goal) -> Json:
    described: Json = {
        "domain": goal.domain,
        "api": goal.kind,
        "parameters_nonempty": dict(goal.arguments),
    }
    if goal.kind.startswith("search_"):
        return described | {"n_db_matches": goal.details["num_matches"]}
    booking = {"unique_id": goal.details["entity"], "booking_return": goal.details["booking"]}
    return described | booking


@pytest.mark.parametrize("case", DIALOGUES)
def test_goals_are_derived_as_published(case: Json, real_world: World) -> None:
    goals = real_world.scene(case["id"]).derived.goals
    assert [as_fixture(goal) for goal in goals] == case["goals"]


@pytest.mark.parametrize("case", DIALOGUES)
def test_failures_and_requests_are_recorded(case: Json, real_world: World) -> None:
    derived = real_world.scene(case["id"]).derived
    failures = [
        {
            "domain": failure.domain,
            "api": failure.kind,
            "parameters_nonempty": dict(failure.arguments),
        }
        for failure in derived.failures
    ]
    assert failures == case["failure_cases_not_rewarded"]
    requests = {domain: list(slots) for domain, slots in derived.requests.items()}
    assert requests == case["requests_not_rewarded"]


@pytest.mark.parametrize("case", DIALOGUES)
def test_dialogue_is_kept_with_its_messages_in_its_split(case: Json, real_world: World) -> None:
    told = case["goal_messages"]
    messages = real_world.scene(case["id"]).record.messages
    assert list(messages) == ([told] if isinstance(told, str) else told)
    split = {"full_test_only": "full_test"}.get(case["split"], case["split"])
    assert case["id"] in real_world.splits[split]
    in_training = case["id"] in real_world.splits["training_fnames"]
    assert in_training == case["in_training_fnames"]


@pytest.mark.parametrize("case", DIALOGUES)
def test_exact_goal_calls_give_the_published_transcript_and_reward(
    case: Json, real_world: World
) -> None:
    task = task_of(real_world, case["id"])
    transcript = case["exact_goal_calls_transcript"]
    calls = [ToolCall(entry["name"], entry["parameters"]) for entry in transcript]
    results = play(task, calls)
    for entry, result in zip(transcript, results, strict=True):
        check_return(entry["return"], result)
    failed = missed(task, calls, results)
    assert failed == case["exact_goal_calls_failed"]
    reward = 1 - len(failed) / len(task.goals)
    assert math.isclose(reward, case["exact_goal_calls_reward"], abs_tol=1e-9)


@pytest.mark.parametrize("case", CALLS)
def test_single_call_behaves_as_published(case: Json, real_world: World) -> None:
    task = task_of(real_world, case["dialogue"])
    call = ToolCall(case["call"]["name"], case["call"]["parameters"])
    [result] = play(task, [call])
    if case["raises"]:
        assert result.error  # where the published environment raises, ours says what is wrong
        return
    check_return(case["return"], result)
    reached = len(task.goals) - len(missed(task, [call], [result]))
    expected = case["fraction_of_goals_after_this_single_call"]
    assert math.isclose(reached / len(task.goals), expected, abs_tol=1e-9)


def check_return(expected: Json, result: ToolResult) -> None:
    if isinstance(expected, dict) and "error_string_starting_with" in expected:
        assert str(result.value).startswith(expected["error_string_starting_with"])
        assert result.error
    elif isinstance(expected, str):
        assert isinstance(result.value, str)
        assert result.value.startswith("ERROR: INVALID API CALL!")
    else:
        assert result.value == expected
        assert result.error is None
