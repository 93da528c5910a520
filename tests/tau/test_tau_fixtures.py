"""Cases with right answers, obtained by running tau-bench and its copy in josh-train 0.1.4.

The folder is that of the environment variable DRL_FIXTURES, so that more cases can be tried.
"""

import asyncio
import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from drl.domains.tau.digest import full_digest
from drl.domains.tau.gold import replay
from drl.domains.tau.stored import Stored
from drl.environment.tau import TauEnvironment
from drl.types import Brief, Task, ToolCall, ToolResult

pytestmark = pytest.mark.fixtures

FOLDER = Path(os.environ.get("DRL_FIXTURES", Path(__file__).parents[1] / "fixtures"))
EXPECTED = json.loads((FOLDER / "tau_expected.json").read_text(encoding="utf-8"))
LINES = (FOLDER / "tau_tool_calls.jsonl").read_text(encoding="utf-8").splitlines()
CALLS = [
    pytest.param(case, id=f"{case['id']}-{case['domain']}-{case['tool']}")
    for case in map(json.loads, LINES)
]
TASKS = [
    pytest.param(case, id=f"{case['domain']}-{case['split']}-{case['task_index']}")
    for case in EXPECTED["tasks"]
]
ENVIRONMENT = TauEnvironment(mode="faithful")

Json = Any  # the fixtures are plain JSON
Load = Callable[..., Stored]

REFUSALS = (
    "not found",
    "found or available",
    "cannot be ",
    "invalid reason",
    "invalid characters in expression",
    "insufficient gift card balance",
    "should ",
    "not available on date",
    "not enough ",
    "does not add up",
    "balance is not enough",
    "does not match",
)
"""What tells a tool's own refusal from the text of an exception, which Python's version decides."""


@pytest.mark.parametrize("case", CALLS)
def test_a_tool_call_gives_the_published_result_and_state(case: Json, real_tau: Load) -> None:
    world = real_tau(case["domain"]).world
    scene = real_tau(case["domain"]).splits["test"][0]
    session = ENVIRONMENT.open(Task("case", "test", Brief(()), (), scene))

    def call(tool: str, arguments: Json) -> ToolResult:
        return asyncio.run(session.call(ToolCall(tool, arguments)))

    for earlier in case["setup"]:
        call(earlier["tool"], earlier["kwargs"])
    assert session.digest() == case["db_hash_before"]
    result = call(case["tool"], case["kwargs"])
    if is_exception(case["result"]):
        assert str(result.value).startswith("Error: ")
    else:
        assert result.value == case["result"]
    assert session.digest() == case["db_hash_after"]
    assert world.tables.digest() == EXPECTED["meta"]["initial_db_sha256"][case["domain"]]


def is_exception(text: str | None) -> bool:
    """Whether an answer begins with "Error: " and no tool of tau-bench words it so."""
    if text is None or not text.startswith("Error: "):
        return False
    return not any(refusal in text for refusal in REFUSALS)


@pytest.mark.parametrize("case", TASKS)
def test_gold_actions_lead_to_the_published_state(case: Json, real_tau: Load) -> None:
    stored = real_tau(case["domain"])
    scene = stored.splits[case["split"]][case["task_index"]]
    assert scene.user_id == case["user_id"]
    assert list(scene.outputs) == case["outputs"]
    assert [action.name for action in scene.actions] == case["action_names"]
    replayed = replay(stored.world.tables, stored.world.domain, scene.actions)
    assert replayed.digest == case["sha256"]
    assert replayed.is_changed == case["db_changed"]
    hashes = [text and hashlib.sha256(text.encode()).hexdigest() for text in replayed.observations]
    errors = {str(position): replayed.observations[position] for position in replayed.failed}
    assert errors.keys() == case["observation_error"].keys()
    for position, expected in enumerate(case["observation_sha256"]):
        told = case["observation_error"].get(str(position))
        if not is_exception(told):
            assert hashes[position] == expected


@pytest.mark.parametrize("case", TASKS)
def test_gold_actions_of_the_older_data_lead_to_its_state(case: Json, real_tau: Load) -> None:
    stored = real_tau(case["domain"], "tau1_old")
    scene = stored.splits[case["split"]][case["task_index"]]
    replayed = replay(stored.world.tables, stored.world.domain, scene.actions)
    assert replayed.digest == case["sha256_josh_wheel_data"]


@pytest.mark.parametrize("domain", ["retail", "airline"])
@pytest.mark.parametrize(
    ("form", "key"),
    [("tau1", "initial_db_sha256"), ("tau1_old", "initial_db_sha256_josh_wheel_data")],
)
def test_databases_as_they_come_have_the_published_hash(
    domain: str, form: str, key: str, real_tau: Load
) -> None:
    tables = real_tau(domain, form).world.tables
    assert full_digest(tables.plain()) == tables.digest() == EXPECTED["meta"][key][domain]
