"""One broken rollout costs itself only, whatever a participant does."""

import asyncio
import json
from dataclasses import dataclass

import pytest
from scripted import CountingWorld, ScriptedAgent, ScriptedUser, say, task_of

from drl.calls.settings import CallSettings
from drl.dataset.base import Dataset
from drl.reward.goal_api import GoalApiReward
from drl.rollout.single import SingleRollout
from drl.runtime.run_dir import RunDir
from drl.trainer._rollouts import roll_out
from drl.trainer.base import Parts
from drl.types import Step, ToolCall


@dataclass
class FewTasks(Dataset):
    version: str = "few-1"

    def load(self):
        return [task_of("a", id=str(number)) for number in range(6)]


def summary_of(tmp_path, act):
    node = {"_target_": "drl.x.y.Z"}
    groups = ("agent", "user_simulator", "reward", "rollout")
    reward = GoalApiReward(judge_against="task")
    parts = Parts(
        config={"name": "x", "seed": 0, "data_dir": "", **dict.fromkeys(groups, node)},
        calls=CallSettings(budget_usd=None, budget_tokens=None, cache=False, prices={}),
        dataset=FewTasks(),
        environment=CountingWorld(),
        agent=ScriptedAgent(act),
        user_simulator=ScriptedUser(),
        reward=reward,
        score=reward,
        rollout=SingleRollout(max_steps=1, concurrency=3),
    )
    with RunDir(tmp_path) as run_dir:
        run_dir.claim(parts.config)
        roll_out(parts, run_dir, trials=1)
    return json.loads((tmp_path / "summary.json").read_text())


def leaks_cancellation() -> Step:
    raise asyncio.CancelledError


@pytest.mark.parametrize(
    "misdeed",
    [
        leaks_cancellation,
        lambda: Step("", calls=(ToolCall("t", "not an object"),)),
        lambda: say("\ud800"),
        lambda: Step("", calls=(ToolCall("t", {"x": object()}),)),
        lambda: None,
    ],
)
def test_a_misdeed_breaks_its_own_rollout_only(tmp_path, misdeed):
    count = iter(range(1000))
    summary = summary_of(tmp_path, lambda s: misdeed() if next(count) == 0 else say())
    assert summary["n_tasks"] == 6
    assert summary["n_errors"] == 1
    assert summary["n_scored"] == 5
