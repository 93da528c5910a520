"""Whole runs whose agent and customer speak through a server: a fake one that fails, a real one."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from random import Random

import pytest

from drl.domains.toolwoz import world
from drl.tree.store import read_trees
from drl.types import Role
from tests.llm.fake_server import FakeServer
from tests.llm.faults import by_rate
from tests.llm.real_server import MODEL, real_server

ROOT = Path(__file__).parents[2]
DATA = os.environ.get("DRL_DATA", "data")
MODELS = ("agent=react", "user_simulator=goal")
FAULTS = {"429": 0.05, "500": 0.1, "cut": 0.05, "malformed": 0.05, "empty": 0.045, "hang": 0.005}
"""30 % of all requests."""


def run(folder: Path, *overrides: str) -> Mapping:
    """The summary of a run that ends well, in `folder`."""
    cache = folder / "data"  # answers that are kept are this run's only
    cache.mkdir(parents=True, exist_ok=True)
    (cache / "toolwoz").symlink_to((ROOT / DATA / "toolwoz").resolve())
    models = cache / "models"
    if not models.exists():
        models.symlink_to((ROOT / DATA / "models").resolve())
    command = [sys.executable, "run.py", *overrides, f"data_dir={cache}"]
    done = subprocess.run(
        [*command, f"hydra.run.dir={folder}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "summary.json").read_text())


def trees(folder: Path) -> dict:
    return {(t.task_id, t.trial): t for t in read_trees(folder / "rollouts.jsonl")}


def llm(key: str, base_url: str, model: str, **settings: object) -> list[str]:
    """A model of a server, as the command line chooses it."""
    group = "llm" if key == "llm" else f"llm@{key}"
    given = {"base_url": base_url, "model": model, "api_key_env": "null", **settings}
    return [f"{group}=openai", *(f"{key}.{name}={value}" for name, value in given.items())]


@cache
def calls() -> list[str]:
    """The calls of the goals of forty tasks: now and then one is the right one."""
    loaded = world.load(ROOT / DATA)
    goals = [goal for id in loaded.splits["test"][:40] for goal in loaded.scene(id).derived.goals]
    return [json.dumps({"name": g.kind, "parameters": dict(g.arguments)}) for g in goals]


def improvise(body: dict, choice: int) -> str:
    """A talk that wanders about, but the same way whenever it is asked the same."""
    asked = [body["model"], body["messages"], body.get("seed"), choice]
    draw = Random(json.dumps(asked))
    if body["model"] == "customer":
        if draw.random() < 0.1:
            return "Thank you, goodbye. END_CONVERSATION"
        return f"Please find me number {draw.randrange(1000)}."
    if "APIRETURN" in body["messages"][-1]["content"] or draw.random() < 0.2:
        return f"PLAN I tell. <COMMAND_END> SPEAK Here is number {draw.randrange(1000)}. "
    return f"PLAN I look. <COMMAND_END> APICALL {draw.choice(calls())} "


@pytest.mark.slow
def test_with_faults_in_thirty_percent_of_requests_forty_trees_are_the_same(tmp_path):
    chosen = ["+experiment=toolwoz_josh", *MODELS, "dataset.limit=40", "rollout.beam_size=4"]
    chosen += ["rollout.max_steps=4"]

    def of(server: FakeServer) -> list[str]:
        patience = {"timeout_s": 2, "retry_s": 0.02, "max_attempts": 20}
        return [
            *llm("llm", server.base_url, "clerk", **patience),
            *llm("user_llm", server.base_url, "customer", **patience),
        ]

    with FakeServer(improvise) as server:
        steady = run(tmp_path / "steady", *chosen, *of(server))
        num_answered = server.answered.total()
        assert server.repeats == 0
    with FakeServer(improvise, fault=by_rate(FAULTS)) as server:
        shaky = run(tmp_path / "shaky", *chosen, *of(server))
        num_faults = sum(seen.fault is not None for seen in server.requests)
        assert server.repeats == 0
        assert server.answered.total() == num_answered
        assert len(server.requests) == num_answered + num_faults
    assert num_faults > 0.2 * len(server.requests)

    before, after = trees(tmp_path / "steady"), trees(tmp_path / "shaky")
    assert len(before) == 40
    assert before == after
    assert any(node.events for tree in before.values() for node in tree.nodes)  # and collapses

    bills = {name: shaky["calls"][name] for name in ("agent: clerk", "user: customer")}
    assert sum(bill["retries"] for bill in bills.values()) == num_faults
    assert sum(bill["requests"] for bill in bills.values()) == num_answered
    assert all(bill["retries"] == 0 for bill in steady["calls"].values())
    assert {bill["usd"] for bill in bills.values()} == {"unknown"}


@pytest.mark.slow
def test_odd_answers_are_answered_and_never_break_a_dialogue(tmp_path):
    faults = by_rate({"huge": 0.3, "wrong_tool": 0.3})
    for agent in ("react", "function_calling"):
        with FakeServer(improvise, fault=faults) as server:
            summary = run(
                tmp_path / agent,
                *["+experiment=toolwoz_josh", f"agent={agent}", "dataset.limit=4"],
                *["rollout=single", "rollout.max_steps=4", "trainer=evaluate"],
                *llm("llm", server.base_url, "clerk"),
            )
            assert {seen.fault for seen in server.requests} == {"huge", "wrong_tool", None}
        assert summary["n_scored"] == 4
        assert summary["n_errors"] == 0


@pytest.mark.slow
def test_a_server_that_is_down_ends_the_run_in_one_line_and_blames_nobody(tmp_path):
    with FakeServer(improvise) as server:
        address = server.base_url
    folder = tmp_path / "down"
    command = [sys.executable, "run.py", "+experiment=toolwoz_josh", "agent=react"]
    command += [*llm("llm", address, "clerk"), f"data_dir={DATA}", f"hydra.run.dir={folder}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1
    assert "5 dialogues in a row were lost to outages" in errors[0]
    assert address in errors[0]
    summary = json.loads((folder / "summary.json").read_text())
    # those that were already under way are lost as well
    assert 5 <= summary["n_errors"] == summary["n_tasks"] < 450
    assert summary["n_scored"] == 0
    assert summary["mean_reward"] is None


@pytest.mark.slow
def test_two_tasks_are_played_through_a_real_server(tmp_path):
    with real_server() as base_url:
        settings = {"timeout_s": 300, "n_per_request": "false", "max_concurrency": 4}
        summary = run(
            tmp_path / "real",
            *["+experiment=toolwoz_josh", "agent=react/compact", "user_simulator=goal"],
            *["user_simulator.max_tokens=24", "user_simulator.retries=0", "dataset.limit=2"],
            *["rollout=single", "rollout.max_steps=2", "agent.max_tool_calls=1"],
            *llm("llm", base_url, MODEL, **settings),
            *llm("user_llm", base_url, MODEL, **settings),
        )
    assert summary["n_tasks"] == 2
    grown = trees(tmp_path / "real").values()
    spoken = [node.turn for tree in grown for node in tree.nodes if not node.turn.failure]
    for role in Role:
        assert any(turn.text for turn in spoken if turn.role is role), role
    for purpose in ("agent", "user"):
        bill = summary["calls"][f"{purpose}: {MODEL}"]
        assert bill["requests"] > 0
        assert bill["tokens_in"] > 0
        assert bill["tokens_out"] > 0
