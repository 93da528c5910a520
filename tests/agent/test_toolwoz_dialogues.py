"""Agents and customers without a model on real ToolWOZ tasks, through the real rollout."""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import replace
from statistics import mean

import pytest

from drl.agent.base import Agent
from drl.agent.oracle import OracleAgent
from drl.agent.rule import RuleAgent
from drl.agent.silent import SilentAgent
from drl.agent.spray import SprayAgent
from drl.dataset.toolwoz import ToolWOZDataset
from drl.domains.toolwoz.brief import brief
from drl.domains.toolwoz.world import Scene
from drl.environment.base import Mode
from drl.environment.toolwoz import ToolWOZEnvironment
from drl.llm.base import NoLLM
from drl.play.cast import Cast
from drl.reward.goal_api import GoalApiReward
from drl.rollout.single import SingleRollout
from drl.tree.dialogue_tree import DialogueTree
from drl.types import Role, StopReason, Task
from drl.user_simulator.agenda import AgendaUserSimulator
from drl.user_simulator.script import ScriptUserSimulator

NUM_TASKS = 40
CAREFUL = RuleAgent(temperature=0.0, max_tool_calls=3)


@pytest.fixture(scope="module")
def tasks() -> Sequence[Task]:
    return ToolWOZDataset(
        root=os.environ.get("DRL_DATA", "data"),
        split="val",
        ids=None,
        exclude_unwinnable=False,
        shuffle=None,
        start=0,
        limit=NUM_TASKS,
        shard=0,
        num_shards=1,
    ).load()


def customer(phrasing: str = "train", first_wish: str = "tentative") -> AgendaUserSimulator:
    return AgendaUserSimulator(first_wish=first_wish, phrasing=phrasing, patience=3)  # type: ignore[arg-type]


def dialogues(
    tasks: Sequence[Task],
    agent: Agent,
    user: AgendaUserSimulator | ScriptUserSimulator | None = None,
    mode: Mode = "faithful",
) -> list[DialogueTree]:
    async def play() -> list[DialogueTree]:
        reward = GoalApiReward(judge_against="task")
        cast = Cast(
            agent=agent,
            user_simulator=user or customer(),
            environment=ToolWOZEnvironment(mode=mode),
            reward=reward,
            score=reward,
            seed=0,
            limit=asyncio.Semaphore(64),
            llm=NoLLM("llm"),
            user_llm=NoLLM("user_llm"),
            judge_llm=NoLLM("judge_llm"),
        )
        rollout = SingleRollout(max_steps=15, max_calls=None, concurrency=64)
        return [await rollout.run(task, 0, cast) for task in tasks]

    return asyncio.run(play())


def mean_reward(trees: Sequence[DialogueTree]) -> float:
    (scores,) = zip(*([leaf.score for leaf in tree.leaves()] for tree in trees), strict=True)
    return mean(score for score in scores if score is not None)


def test_the_careful_rule_agent_beats_every_floor_and_serves_nearly_everyone(tasks):
    careful = mean_reward(dialogues(tasks, CAREFUL))
    spray = mean_reward(dialogues(tasks, SprayAgent(max_tool_calls=3)))
    assert careful > 0.9
    assert careful > spray > 0.0
    assert mean_reward(dialogues(tasks, SilentAgent(max_tool_calls=3))) == 0.0


def test_the_oracle_is_at_the_ceiling(tasks):
    exact = mean_reward(dialogues(tasks, OracleAgent(max_tool_calls=3, slip=0.0)))
    assert exact >= mean_reward(dialogues(tasks, CAREFUL))


@pytest.mark.parametrize("phrasing", ["heldout", "all"])
def test_wording_that_it_was_not_written_for_does_not_confuse_it(tasks, phrasing):
    assert mean_reward(dialogues(tasks, CAREFUL, customer(phrasing))) > 0.9


def test_it_does_as_well_where_failures_are_enforced(tasks):
    assert mean_reward(dialogues(tasks, CAREFUL, mode="fixed")) > 0.9


def test_a_firm_customer_takes_what_should_have_failed_and_loses_goals_by_it(tasks):
    firm = mean_reward(dialogues(tasks, CAREFUL, customer(first_wish="firm")))
    assert 0.7 < firm < mean_reward(dialogues(tasks, CAREFUL))


def test_it_follows_what_humans_said(tasks):
    """Their turns answer another agent, so what they say comes too early or too late."""
    assert mean_reward(dialogues(tasks, CAREFUL, ScriptUserSimulator())) > 0.6


def test_the_warmer_the_weaker(tasks):
    means = [
        mean_reward(dialogues(tasks, RuleAgent(temperature=temperature, max_tool_calls=3)))
        for temperature in (0.0, 0.5, 1.0, 2.0)
    ]
    assert means == sorted(means, reverse=True)
    assert 0.4 < means[2] < 0.75


def test_customers_hang_up_on_their_own_and_nothing_breaks(tasks):
    for tree in dialogues(tasks, CAREFUL):
        assert [leaf.stop for leaf in tree.leaves()] == [StopReason.USER_ENDED]


def test_nothing_but_the_brief_reaches_the_customer(tasks):
    """Other booked entities and references leave the brief, and so every word, as it was."""
    for task in tasks:
        scene = task.world
        assert isinstance(scene, Scene)
        other = {
            domain: tuple({**item, "name": "elsewhere", "reference": "XXXXXXXX"} for item in items)
            for domain, items in scene.record.booked.items()
        }
        assert brief(replace(scene.record, booked=other), scene.world.definitions) == task.brief
    stripped = [replace(task, goals=()) for task in tasks]
    silent = SilentAgent(max_tool_calls=3)
    for one, other in zip(dialogues(tasks, silent), dialogues(stripped, silent), strict=True):
        assert [node.turn for node in one.nodes] == [node.turn for node in other.nodes]


def test_bookings_are_of_entities_that_a_search_returned(tasks):
    for tree in dialogues(tasks, CAREFUL):
        found: set[str] = set()
        for node in tree.nodes:
            for step in node.turn.steps if node.turn.role is Role.AGENT else ():
                for call, result in zip(step.calls, step.results, strict=True):
                    if call.name.startswith("book_"):
                        key = call.arguments.get("name") or call.arguments.get("trainID")
                        assert key in found
                    for row in result.value if isinstance(result.value, list) else ():
                        assert isinstance(row, dict)
                        found.add(str(row.get("name") or row.get("trainID")))
