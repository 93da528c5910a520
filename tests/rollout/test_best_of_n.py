import asyncio

import pytest
from scripted import ScriptedAgent, ScriptedUser, cast_of, hit, lucky, say, task_of, turns_of

from drl.errors import ConfigError
from drl.rollout.best_of_n import BestOfNRollout
from drl.rollout.single import SingleRollout
from drl.types import Outcome, StopReason


def best_of_n(num_dialogues=None, agent_calls=None) -> BestOfNRollout:
    return BestOfNRollout(
        num_dialogues=num_dialogues, agent_calls=agent_calls, max_steps=5, concurrency=8
    )


def test_by_count_every_dialogue_is_a_root_of_its_own_and_the_best_is_golden():
    agent = ScriptedAgent(lambda s: say() if s.steps or s.seed % 2 else hit("a"))
    tree = asyncio.run(best_of_n(6).run(task_of("a"), 0, cast_of(agent)))
    roots = [node for node in tree.nodes if node.parent is None]
    assert len(roots) == len(list(tree.leaves())) == 6
    assert tree.best_leaf().golden
    assert sum(root.golden for root in roots) == 1
    assert tree.best_leaf().score == 1.0


def test_by_budget_dialogues_follow_until_the_calls_are_spent():
    agent = ScriptedAgent(lambda _: say())
    tree = asyncio.run(best_of_n(agent_calls=12).run(task_of("a"), 0, cast_of(agent)))
    # 5 + 5 calls, then 2 of the third dialogue
    assert tree.num_agent_calls == 12
    assert [leaf.stop for leaf in tree.leaves()] == [
        StopReason.MAX_TURNS,
        StopReason.MAX_TURNS,
        StopReason.BUDGET,
    ]
    assert [tree.outcome(leaf) for leaf in tree.leaves()][-1] is Outcome.CENSORED


def test_by_budget_it_stops_once_every_goal_is_reached():
    agent = ScriptedAgent(turns_of(*[say()] * 5, hit("a")))
    tree = asyncio.run(best_of_n(agent_calls=100).run(task_of("a"), 0, cast_of(agent)))
    assert tree.num_agent_calls == 5 + 2
    assert tree.best_leaf().stop is StopReason.GOALS_REACHED


def test_by_budget_it_gives_up_on_dialogues_that_end_before_the_agent_moves():
    agent = ScriptedAgent(lambda _: say())
    cast = cast_of(agent, ScriptedUser(ends_at=0))
    tree = asyncio.run(best_of_n(agent_calls=10).run(task_of("a"), 0, cast))
    assert len(tree.nodes) == 1


@pytest.mark.parametrize("sizes", [(None, None), (2, 2), (0, None), (None, -1)])
def test_exactly_one_positive_size_decides(sizes):
    with pytest.raises(ConfigError, match=r"rollout\.(num_dialogues|agent_calls)"):
        best_of_n(*sizes)


def test_a_single_dialogue_is_the_first_of_n():
    task, agent = task_of("goal_0", "goal_1"), ScriptedAgent(lucky(0.3))
    single = asyncio.run(
        SingleRollout(max_steps=5, max_calls=None, concurrency=1).run(task, 0, cast_of(agent))
    )
    forest = asyncio.run(best_of_n(3).run(task, 0, cast_of(agent)))
    first = forest.nodes[: len(single.nodes)]
    assert [node.turn for node in first] == [node.turn for node in single.nodes]
    assert single.best_leaf().stop is StopReason.MAX_TURNS
