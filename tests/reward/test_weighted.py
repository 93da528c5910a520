"""Several rewards as one."""

import asyncio
import math

import pytest
from scripted import NO_JUDGE, CountingWorld, hit, say, task_of

from drl.errors import ConfigError
from drl.reward.base import Reward
from drl.reward.function import FunctionReward
from drl.reward.goal_api import GoalApiReward
from drl.reward.weighted import WeightedReward
from drl.runtime.compose import compose
from drl.runtime.config import build, check_nodes, to_plain
from drl.types import RewardEvent, Role, ToolResult, Turn
from tests.llm.asking import CONF

GOALS = GoalApiReward(judge_against="task")
SHORT = FunctionReward(function="tests/reward/own_rewards.py:brevity", every_turn=True)


def both(**weights: float) -> WeightedReward:
    return WeightedReward(rewards={"goals": GOALS, "short": SHORT}, weights=weights)


def done(*kinds: str) -> Turn:
    called = hit(*kinds)
    results = tuple(ToolResult("ok") for _ in kinds)
    step = type(called)(called.text, calls=called.calls, results=results)
    return Turn(Role.AGENT, "abc", (step, say("abc")))


def test_events_keep_their_sources_and_are_weighted_and_goals_close():
    task = task_of("a", "b")
    judged = both(goals=2.0, short=-1.0).judge(
        task, CountingWorld(), (), done("b"), (0, 1), NO_JUDGE
    )
    judgement = asyncio.run(judged)
    assert judgement.open_goals == (0,)
    goal, short = judgement.events
    assert (goal.source, goal.amount, goal.detail["goal"]) == ("goal", 2.0 * 1 / 2, 1)
    assert short == RewardEvent(-1.0 * 1 / 4, "brevity")


def test_a_grade_is_the_weighted_sum_and_unscored_where_one_is():
    dialogue = [done("a")]
    weighted = both(goals=2.0, short=-1.0)
    graded = weighted.grade(task_of("a", "b"), CountingWorld(), dialogue, NO_JUDGE)
    assert asyncio.run(graded) == 2.0 * 1 / 2 - 1 / 4
    no_goals = weighted.grade(task_of(), CountingWorld(), dialogue, NO_JUDGE)
    assert asyncio.run(no_goals) is None


def test_its_version_is_that_of_its_functions():
    assert both(goals=1.0, short=1.0).version == SHORT.version


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"goals": 1.0}, r"reward\.weights has none for short; add \+reward\.weights\.short=1\.0"),
        ({"goals": 1.0, "short": 1.0, "long": 2.0}, r"weights\.long=2\.0 belongs to no reward; kn"),
        ({"goals": math.nan, "short": 1.0}, r"reward\.weights\.goals=nan must be finite"),
    ],
)
def test_rewards_and_weights_that_do_not_pair_up_are_refused(weights, message):
    with pytest.raises(ConfigError, match=message):
        both(**weights)


def composed(*overrides: str) -> Reward:
    node = to_plain(compose(CONF, ["reward=weighted", *overrides]))["reward"]
    assert isinstance(node, dict)
    check_nodes({"reward": node})
    built = build("reward", node)
    assert isinstance(built, Reward)
    return built


def test_the_command_line_nests_rewards_even_weighted_ones():
    inner = "reward@reward.rewards.inner"
    reward = composed(
        f"+{inner}=weighted",
        f"+{inner}.rewards.goals=goal_api",
        "+reward.rewards.inner.weights.goals=0.5",
        "+reward.weights.inner=4.0",
    )
    graded = reward.grade(task_of("a", "b"), CountingWorld(), [done("a")], NO_JUDGE)
    assert asyncio.run(graded) == 4.0 * 0.5 * 1 / 2


def test_none_at_all_is_refused_with_the_words_that_choose_one():
    with pytest.raises(ConfigError, match=r"names no reward; add \+reward@reward\.rewards\.NAME="):
        composed()


def test_what_is_no_reward_is_refused():
    with pytest.raises(ConfigError, match=r"reward\.rewards=\{'goals': 3\} must be a node"):
        composed("+reward.rewards.goals=3")
