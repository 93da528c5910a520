"""The example of users' own tasks and tools does what its page says, in whole runs."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from drl.tree.store import read_trees

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "own_environment"


def run(folder: Path, *arguments: str) -> dict:
    """What a run from the repository's root sums up."""
    done = start(folder, *arguments)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads((folder / "summary.json").read_text())


def start(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "run.py", *arguments, f"hydra.run.dir={folder}"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)


def test_the_experiment_wins_all_tasks_without_a_key(tmp_path):
    summary = run(tmp_path, "+experiment=own_environment")
    assert summary["n_tasks"] == summary["n_scored"] == 8
    assert summary["mean_reward"]["value"] == summary["full_success"]["value"] == 1
    # 14 calls are expected and 19 turns answered, over 8 tasks
    assert summary["agent_calls"]["value"] == pytest.approx(33 / 8)
    assert summary["per_domain"].keys() == {"advice", "change", "rental", "repair"}
    assert "tasks.jsonl-" in summary["data_version"]
    assert "tools-" in summary["data_version"]
    # of the measures beside the reward only those that do not read ToolWOZ's words
    assert summary["metrics"].keys() == {"calls_per_goal", "num_turns"}
    assert (tmp_path / "report.html").stat().st_size > 10_000


@pytest.mark.parametrize("agent", ["silent", "spray"])
def test_the_floors_are_zero(tmp_path, agent):
    summary = run(tmp_path, "+experiment=own_environment", f"agent={agent}")
    assert summary["mean_reward"]["value"] == 0
    assert summary["n_errors"] == 0


def test_validate_replays_calls_and_the_examples_of_checks(tmp_path):
    summary = run(tmp_path, "+experiment=own_environment", "trainer=validate")
    assert summary["full_success"]["value"] == 1
    assert summary["missed"] == {}


def test_a_check_without_an_example_is_reported_as_not_replayable(tmp_path):
    tasks = copied(tmp_path)
    lines = [json.loads(line) for line in tasks.read_text().splitlines()]
    del lines[-1]["goals"][0]["example"]
    tasks.write_text("\n".join(map(json.dumps, lines)))
    summary = run(
        tmp_path / "run", "+experiment=own_environment", "trainer=validate", f"dataset.path={tasks}"
    )
    reason = "checks.py:bollard_is_reported names no example, so there is nothing to replay"
    assert summary["missed"] == {f"check: {reason}": 1}


def test_a_search_with_a_model_finds_what_a_customer_wants_in_some_branch(tmp_path):
    rent = "{name: rent_bike, arguments: {bike: %s, day: friday, name: Petrov}}"
    replies = ", ".join(f"{{calls: [{rent % bike}]}}" for bike in ("Albatross", "Ferry", "Eider"))
    summary = run(
        tmp_path,
        "+experiment=own_environment",
        "agent=function_calling",
        "llm=scripted",
        f"llm.replies=[{replies}, Anything else?]",
        "rollout=josh",
        "trainer=collect",
        "dataset.ids=[moving-house]",
    )
    assert summary["mean_reward"]["value"] == 0.5
    (tree,) = read_trees(tmp_path / "rollouts.jsonl")
    given = [done for node in tree.nodes for done in node.turn.executed()]
    assert {done.call.arguments["bike"] for done in given} == {"Albatross", "Ferry", "Eider"}
    for leaf in tree.leaves():
        calls = [done for turn in tree.dialogue(leaf.id) for done in turn.executed()]
        first = {}  # within a branch a bike can be rented once, whatever its siblings did
        for done in calls:
            bike = done.call.arguments["bike"]
            assert (done.result.error is None) == (bike not in first)
            first.setdefault(bike, done)


@pytest.mark.slow
def test_the_same_tasks_run_on_an_mcp_server_also_in_a_search(tmp_path):
    server = f"{sys.executable} examples/own_environment/server.py"
    summary = run(
        tmp_path,
        "dataset=jsonl_tasks",
        f"dataset.path={EXAMPLE / 'tasks.jsonl'}",
        "dataset.ids=[tandem,bent-wheel]",
        "environment=mcp",
        f"environment.server='{server}'",
        "environment.setup_tool=begin",
        "agent=oracle",
        "user_simulator=script",
        "reward=goal_api",
        "rollout=josh",
        "rollout.beam_size=2",
        "rollout.allow_greedy=true",
        "trainer=collect",
    )
    assert summary["full_success"]["value"] == 1
    assert summary["n_errors"] == 0


def copied(folder: Path) -> Path:
    """A copy of the example; its tasks."""
    for file in EXAMPLE.iterdir():
        if file.is_file():
            shutil.copy(file, folder)
    return folder / "tasks.jsonl"


@pytest.mark.slow
def test_what_came_of_two_contents_never_mixes(tmp_path):
    tasks = copied(tmp_path)
    chosen = (
        "+experiment=own_environment",
        f"dataset.path={tasks}",
        f"environment.tools={tmp_path / 'tools.py'}",
    )
    run(tmp_path / "run", *chosen)
    stored = (tmp_path / "run" / "rollouts.jsonl").read_bytes()
    with (tmp_path / "tools.py").open("a") as file:
        file.write("\n")
    again = start(tmp_path / "run", *chosen)
    assert again.returncode == 2
    assert "began on data" in again.stderr
    assert "choose another folder with hydra.run.dir=DIR" in again.stderr
    assert (tmp_path / "run" / "rollouts.jsonl").read_bytes() == stored


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["dataset=jsonl_tasks", "environment=functions"], "dataset.path is not set"),
        (
            ["+experiment=own_environment", "environment.tools=tests/required.py"],
            "tasks.jsonl:1: goals.0: there is no tool find_bikes; tools: settings, choice",
        ),
        (["+experiment=own_environment", "dataset.path=README.md"], "README.md:1: is not JSON"),
    ],
)
def test_mistakes_are_one_line_before_anything_runs(tmp_path, arguments, message):
    done = start(tmp_path, "trainer=validate", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
