"""What every environment promises: one test for each option in conf/environment.

One without tools has little to promise, and a test file of its own.
"""

import asyncio
import json
import os
from collections.abc import Sequence
from pathlib import Path

import pytest
import required
from hydra import compose, initialize_config_dir
from hydra.utils import instantiate

from drl.domains.own.world import OwnWorld
from drl.environment.base import Environment, Session
from drl.errors import ConfigError
from drl.types import Brief, Goal, Task, ToolCall, ToolResult

CONF = Path(__file__).parents[2] / "conf"
DATA = os.environ.get("DRL_DATA", "data")
OPTIONS = sorted(
    str(path.relative_to(CONF / "environment").with_suffix(""))
    for path in (CONF / "environment").rglob("*.yaml")
)
WITH_TOOLS = [option for option in OPTIONS if option != "none"]
NUM_TASKS = 12
DATASETS = {"functions": "jsonl_tasks", "mcp": "jsonl_tasks", "tau": "tau_bench"}
"""The data set of an environment that has another name."""


@pytest.fixture(params=WITH_TOOLS)
def option(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def environment(option: str) -> Environment:
    return _instantiate("environment", option, *required.settings("environment", option))


@pytest.fixture
def tasks(option: str) -> Sequence[Task]:
    """Some tasks of the data set that belongs to the environment."""
    name = option.split("/")[0]
    dataset = DATASETS.get(name, name)
    overrides = [f"++data_dir={DATA}", f"++dataset.limit={NUM_TASKS}"]
    tasks = _instantiate("dataset", dataset, *overrides, *required.settings("dataset", dataset))
    return [task for task in tasks.load() if name != "mcp" or not asks_for_state(task)]


def asks_for_state(task: Task) -> bool:
    """Whether a check looks into the state, which a server keeps to itself."""
    assert isinstance(task.world, OwnWorld)
    return any("state" in check.sees for check in task.world.checks.values())


def _instantiate(group: str, choice: str, *overrides: str):
    with initialize_config_dir(str(CONF), version_base="1.3"):
        config = compose(overrides=[f"+{group}={choice}", *overrides])
    return instantiate(config[group])


def call(session: Session, tool: ToolCall) -> ToolResult:
    return asyncio.run(session.call(tool))


def play(environment: Environment, task: Task) -> list[tuple[ToolCall, ToolResult]]:
    session = environment.open(task)
    calls = [environment.exact_call(goal) for goal in task.goals]
    return [(tool, call(session, tool)) for tool in calls]


@pytest.mark.parametrize("option", OPTIONS)
def test_mode_is_the_one_its_preset_names(option, environment):
    assert environment.mode == ("fixed" if option.endswith("/fixed") else "faithful")


@pytest.mark.parametrize("option", OPTIONS)
def test_a_task_of_another_data_set_is_refused(environment):
    goals = (Goal("search", "elsewhere", {}),)
    with pytest.raises(ConfigError, match=r"environment=.*elsewhere.*use dataset="):
        environment.open(Task("elsewhere", "test", Brief(()), goals))


def test_tools_have_unique_names_and_schemas_in_the_openai_format(environment, tasks):
    toolbox = environment.open(tasks[0]).toolbox
    names = [spec.name for spec in toolbox.specs]
    assert len(set(names)) == len(names) > 0
    for spec in toolbox.specs:
        function = json.loads(json.dumps(spec.to_openai()))["function"]
        assert function["name"] == spec.name
        assert function["description"]
        assert function["parameters"]["type"] == "object"
        assert set(toolbox.values.get(spec.name, {})) <= set(function["parameters"]["properties"])


def test_toolbox_is_shared_by_sessions(environment, tasks):
    first, second = environment.open(tasks[0]), environment.open(tasks[1])
    assert first.toolbox is second.toolbox
    assert first.fork().toolbox is first.toolbox


@pytest.mark.parametrize(
    "bad",
    [
        ToolCall("no_such_tool", {}),
        ToolCall("", {}),
        ToolCall("search", {"": ""}),
        ToolCall("no_such_tool", None),  # type: ignore[arg-type]
        ToolCall("no_such_tool", ["x"]),  # type: ignore[arg-type]
    ],
)
def test_a_bad_call_gives_an_error_never_an_exception(environment, tasks, bad):
    session = environment.open(tasks[0])
    before = session.digest()
    result = call(session, bad)
    assert result.error
    assert result.value
    assert session.digest() == before
    assert not any(environment.achieves(g, bad, result, tasks[0].goals) for g in tasks[0].goals)


@pytest.mark.parametrize("junk", [None, True, 3, 2.5, [], ["x"], {"x": 1}, "", "\x00", "é" * 500])
def test_junk_in_the_arguments_of_a_real_tool_never_raises(environment, tasks, junk):
    session = environment.open(tasks[0])
    for spec in session.toolbox.specs:
        for parameter in spec.parameters["properties"]:  # type: ignore[union-attr, call-overload]
            json.dumps(call(session, ToolCall(spec.name, {parameter: junk})).value)
        assert call(session, ToolCall(spec.name, {"no such parameter": junk})).error


def test_exact_calls_reach_most_goals_and_results_are_json(environment, tasks):
    reached = 0
    for task in tasks:
        done = play(environment, task)
        json.dumps([result.value for _, result in done])
        reached += sum(
            any(environment.achieves(goal, *attempt, task.goals) for attempt in done)
            for goal in task.goals
        )
        for goal, (_, result) in zip(task.goals, done, strict=True):
            assert environment.explain(task, goal, result)
    assert reached >= 0.8 * sum(len(task.goals) for task in tasks)


def test_the_same_calls_give_the_same_results_and_state(environment, tasks):
    for task in tasks:
        assert play(environment, task) == play(environment, task)
        first, second = environment.open(task), environment.open(task)
        for goal in task.goals:
            call(first, environment.exact_call(goal))
            call(second, environment.exact_call(goal))
        assert first.digest() == second.digest()


def test_a_fork_starts_from_the_same_state_and_then_goes_its_own_way(environment, tasks):
    changed = 0
    for task in tasks:
        session = environment.open(task)
        fork = session.fork()
        start = session.digest()
        assert fork.digest() == start
        for goal in task.goals:
            call(fork, environment.exact_call(goal))
        assert session.digest() == start
        changed += fork.digest() != start
        assert fork.fork().digest() == fork.digest()
    assert changed  # some exact call writes, or the test would show nothing
