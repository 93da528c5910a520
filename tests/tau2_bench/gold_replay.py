"""Grades what replaying the actions of tasks leads to: `python gold_replay.py DOMAIN SPLIT`, JSON.

A program of its own, since a process can read one tau2 only.
"""

import asyncio
import json
import sys

from drl.dataset.tau2 import Tau2Dataset
from drl.domains.tau2.world import Scene
from drl.environment.tau2 import Tau2Environment
from drl.llm.base import NoLLM
from drl.reward.tau2_check import Tau2CheckReward
from drl.types import Role, Step, Task, ToolCall, Turn

WORLD = Tau2Environment()
REWARD = Tau2CheckReward(
    nl_assertions="unscored", max_errors=None, temperature=0.0, max_tokens=1, retries=0
)


async def replayed(task: Task) -> float | None:
    """The grade of a dialogue in which both sides do and say all that they ought to."""
    session, scene = WORLD.open(task), task.world
    assert isinstance(scene, Scene)
    words = (scene.criteria and scene.criteria.communicate_info) or []
    turns = [Turn(Role.AGENT, f"It is {word}.") for word in words]
    for action in scene.actions:
        call, by_user = ToolCall(action.name, action.arguments), action.requestor == "user"
        result = await (session.call_by_user(call) if by_user else session.call(call))
        step = Step("", calls=(call,), results=(result,))
        turns.append(Turn(Role.USER if by_user else Role.AGENT, "Done.", (step,)))
    end = Turn(Role.USER, "###STOP###", hangs_up=True)
    return await REWARD.grade(task, WORLD, [*turns, end], NoLLM("judge_llm"))


def main(domain: str, split: str) -> None:
    dataset = Tau2Dataset(
        root=None,
        domain=domain,
        split=split,
        ids=None,
        shuffle=None,
        start=0,
        limit=None,
        shard=0,
        num_shards=1,
    )
    tasks = dataset.load()
    told = {
        "version": dataset.version,
        "grades": {task.id: asyncio.run(replayed(task)) for task in tasks},
        "floor": REWARD.floor(tasks, WORLD),
        "litellm": "litellm" in sys.modules,
    }
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
