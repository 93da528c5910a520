"""josh-train's ToolWOZ classes on real tasks: its own loop, with only the imports changed."""

import asyncio
import json
import os
from argparse import Namespace
from pathlib import Path

import pytest

from drl.compat.josh import (
    JOSH,
    ToolWOZEnvironment,
    ToolWOZRewards,
    build_agent,
    build_convo_env,
    build_user,
    handle_api_calls,
)
from drl.environment.toolwoz import ToolWOZEnvironment as Tools
from drl.errors import ConfigError
from drl.reward.goal_api import GoalApiReward
from drl.types import Role, Step, ToolCall, ToolResult, Turn

FIXTURES = Path(os.environ.get("DRL_FIXTURES", "tests/fixtures")) / "toolwoz_examples.json"
CASES = json.loads(FIXTURES.read_text())["dialogues"]


def arguments(**settings: object) -> Namespace:
    usual = {
        "data_dir": os.environ.get("DRL_DATA", "data"),
        "task_split": "val",
        "agent_strategy": "rule",
        "user_mode": "agenda",
        "temperature": 1.0,
    }
    return Namespace(**usual | settings)


@pytest.fixture(scope="module")
def toolwoz() -> ToolWOZEnvironment:
    return ToolWOZEnvironment(arguments())


def test_splits_have_their_published_sizes(toolwoz):
    assert len(toolwoz.set_to_run) == len(toolwoz.val_ids) == 793
    assert (len(toolwoz.train_ids), len(toolwoz.test_ids_full)) == (6251, 805)
    assert toolwoz.test_ids == toolwoz.test_ids_full[:450]
    assert len(toolwoz.apis) == 7849


def rollout(toolwoz: ToolWOZEnvironment, key: str) -> tuple[JOSH, ToolWOZRewards]:
    args = arguments(josh=True)
    env = build_convo_env(args, key, toolwoz)
    user, agent = build_user(args, toolwoz, env), build_agent(args, toolwoz)
    agent, _ = user.step(agent)

    def step_agent(agent, **kwargs):
        agent.step(**kwargs)
        return agent, True

    rewards = ToolWOZRewards(env)
    josh = JOSH(
        rewards=rewards,
        agent_step=step_agent,
        user_step=lambda user, agent: user.step(agent),
        add_error_message=lambda agent: agent,
        root_agent=agent,
        user=user,
        agent_env=env,
        beam_size=8,
    )
    for _ in range(15):
        _, all_done = josh.step()
        if all_done:
            break
    return josh, rewards


def test_its_rollout_earns_goals_on_real_tasks(toolwoz):
    shares = []
    for key in toolwoz.val_ids[:12]:
        josh, rewards = rollout(toolwoz, key)
        shares.append(josh.current_reward)
        total = josh.num_total_rewards
        assert josh.current_reward == pytest.approx((total - len(rewards)) / total)
        assert bool(josh.training_examples) == (josh.current_reward > 0)
        assert not josh.errors
    # an erring agent alone reaches about 0.6 of the goals, its trees about 0.9
    assert sum(shares) / len(shares) > 0.7


def test_a_rollout_repeats(toolwoz):
    first, again = (rollout(toolwoz, toolwoz.val_ids[0])[0] for _ in range(2))
    assert first.training_examples == again.training_examples


@pytest.mark.fixtures
@pytest.mark.parametrize("case", CASES, ids=lambda c: c["id"])
def test_the_verdict_of_a_dialogue_is_that_of_the_reward(toolwoz, case):
    args = arguments()
    env = build_convo_env(args, case["id"], toolwoz)
    steps = []
    for made in case["exact_goal_calls_transcript"]:
        value = handle_api_calls(made["name"], made["parameters"], env)
        call = ToolCall(made["name"], made["parameters"])
        steps.append(Step("", calls=(call,), results=(ToolResult(value),)))
    share, missed = env.evaluate_apis()
    grade = GoalApiReward(judge_against="task").grade(
        env.task, Tools(mode="faithful"), [Turn(Role.AGENT, "", tuple(steps))]
    )
    assert share == pytest.approx(case["exact_goal_calls_reward"], abs=1e-4)
    assert share == pytest.approx(asyncio.run(grade))
    assert len(missed) == round((1 - share) * len(env.task.goals))


def test_what_needs_a_model_is_refused_by_name(toolwoz):
    react, goal = arguments(agent_strategy="react"), arguments(user_mode="goal")
    env = build_convo_env(react, toolwoz.val_ids[0], toolwoz)
    with pytest.raises(ConfigError, match="agent_strategy=react is not built here; known: rule"):
        build_agent(react, toolwoz)
    with pytest.raises(ConfigError, match="user_mode=goal is not built here; known: agenda"):
        build_user(goal, toolwoz, env)
    with pytest.raises(ConfigError, match="task_split=dev is not built here; known: train"):
        ToolWOZEnvironment(arguments(task_split="dev"))
