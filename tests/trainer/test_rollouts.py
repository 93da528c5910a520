"""One broken rollout costs itself only, whatever a participant does."""

import asyncio
import json
from dataclasses import replace

import pytest
from scripted import ScriptedAgent, say
from trainer.small_runs import NumberedTasks, small_parts, start

from drl.errors import ConfigError
from drl.rollout.single import SingleRollout
from drl.trainer.collect import CollectTrainer
from drl.types import Role, Step, ToolCall, Turn
from drl.user_simulator.script import ScriptUserSimulator


def summary_of(tmp_path, act):
    rollout = SingleRollout(max_steps=1, max_calls=None, concurrency=3)
    parts = small_parts(ScriptedAgent(act), rollout, NumberedTasks(6, ("a",)))
    start(CollectTrainer(trials=1), parts, tmp_path)
    return json.loads((tmp_path / "summary.json").read_text())


class GreetedTasks(NumberedTasks):
    def load(self):
        return [replace(task, opening=(Turn(Role.AGENT, "Hi!"),)) for task in super().load()]


@pytest.mark.parametrize("dataset", [NumberedTasks, GreetedTasks])
def test_a_customer_who_could_only_hang_up_is_refused_before_any_dialogue(dataset, tmp_path):
    rollout = SingleRollout(max_steps=1, max_calls=None, concurrency=3)
    agent = ScriptedAgent(lambda situation: say("hm"))
    parts = small_parts(agent, rollout, dataset(1, ("a",)), user=ScriptUserSimulator())
    with pytest.raises(ConfigError, match=r"^user_simulator=.* nothing to say .* task 0; choose"):
        start(CollectTrainer(trials=1), parts, tmp_path)
    assert not (tmp_path / "rollouts.jsonl").exists()


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
