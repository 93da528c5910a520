"""Which branch a reward keeps, and what becomes training data."""

import asyncio
import random

import pytest
from compat.josh_script import Move, Script, last_words, start
from hypothesis import given, settings
from hypothesis import strategies as st

from drl.compat.josh import JOSH, AsyncJOSH, BaseJOSHAgent, BaseRewards

TALK, HIT_A, HIT_B = Move(), Move(["a"]), Move(["b"])


def test_the_leftmost_rewarded_leaf_wins_even_if_another_hits_more():
    # four leaves in the second step: turns 2 to 5
    script = Script(TALK, TALK, TALK, HIT_A, TALK, Move(["a", "b"]))
    josh = start(JOSH, script, BaseRewards(["a", "b"]), beam_size=4)
    josh.step()
    assert josh.step() == (0.5, False)
    assert josh.rewards.rewards == ["b"]
    assert josh.root.agent.messages_internal[-2]["content"] == "turn 3"


def test_a_harvest_holds_every_node_with_its_flags():
    script = Script(TALK, TALK, TALK, HIT_A, TALK, Move(["a", "b"]))
    josh = start(JOSH, script, BaseRewards(["a", "b"]), beam_size=4)
    josh.step()
    josh.step()
    assert last_words(josh.training_examples) == [
        (None, True, True),  # the root, above both rewarded leaves
        ("turn 0", True, True),
        ("turn 2", False, False),
        ("turn 3", True, True),  # the winner
        ("turn 1", True, False),
        ("turn 4", False, False),
        ("turn 5", True, False),  # rewarded as well, but not kept
    ]


def test_the_search_goes_on_from_the_winner_alone():
    script = Script(TALK, HIT_A)
    josh = start(JOSH, script, BaseRewards(["a", "b"]), beam_size=2)
    josh.step()
    assert josh.root.parent is None
    assert (josh.root.is_successful, josh.root.is_golden_path) == (False, True)
    assert josh.root.get_leaves() == [josh.root]
    assert script.num_user_calls == 1


def test_examples_keep_the_dialogue_from_its_beginning_across_collapses():
    script = Script(HIT_A, TALK, TALK, HIT_B)
    josh = start(JOSH, script, BaseRewards(["a", "b"]), beam_size=2)
    josh.step()
    assert josh.step() == (1.0, True)
    words = [message["content"] for message in josh.training_examples[-1][0]]
    assert words == ["turn 0", "go on", "turn 3"]
    assert josh.training_examples[-1][1:] == (True, True)


def test_an_example_that_is_there_already_is_not_added_again():
    # the winner of the first step is the root of the second: same messages, same flags
    script = Script(HIT_A, TALK, HIT_B)
    josh = start(JOSH, script, BaseRewards(["a", "b"]), beam_size=2)
    josh.step()
    josh.step()
    assert last_words(josh.training_examples) == [
        (None, True, True),
        ("turn 0", True, True),
        ("turn 1", False, False),
        ("turn 2", True, True),
        ("turn 3", False, False),
    ]


def test_nothing_is_harvested_without_a_reward():
    josh = start(JOSH, Script(), BaseRewards(["never"]))
    for _ in range(4):
        josh.step()
    assert josh.training_examples == []


def test_a_turn_of_several_passes_is_judged_after_each_and_collapses_at_its_end():
    goes_on = Move(hands_over=False)
    script = Script(
        *(goes_on, goes_on),  # first pass over both leaves
        *(TALK, Move(["a"], hands_over=False)),  # the right leaf is rewarded inside its turn
        Move(["b"]),  # third pass: the right leaf alone
    )
    josh = start(JOSH, script, BaseRewards(["a", "b"]), beam_size=2)
    assert josh.step() == (0.5, False)  # as in josh-train, only the first pass's goals are closed
    assert josh.rewards.rewards == ["b"]
    assert script.num_agent_calls == 5
    words = [message["content"] for message in josh.root.agent.messages_internal]
    assert words == ["turn 1", "turn 3", "turn 4", "go on"]


def test_a_leaf_that_returns_none_is_over_but_still_judged():
    script = Script(Move(["a"], hands_over=None), TALK)
    josh = start(JOSH, script, BaseRewards(["a", "b"]), beam_size=2)
    assert josh.step() == (0.5, True)  # the winner is over, so no leaf is alive


def test_the_golden_agent_is_the_one_that_hit_the_last_goal():
    script = Script(HIT_A, TALK, TALK, HIT_B)
    josh = start(JOSH, script, BaseRewards(["a", "b"]), beam_size=2)
    josh.step()
    assert josh.golden_agent is None
    josh.step()
    assert josh.golden_agent is josh.root.agent


class RandomScript(Script):
    """Draws its moves, in the order in which it is called."""

    def __init__(self, seed: int) -> None:
        super().__init__(hang_ups=frozenset(random.Random(seed).sample(range(100), 10)))
        draw = random.Random(seed)
        self._moves = iter(lambda: _random_move(draw), None)


def _random_move(draw: random.Random) -> Move:
    return Move(
        actions=[action for action in ("a", "b", "c") if draw.random() < 0.08],
        hands_over=draw.choice([True, True, False, None]),
        error=ValueError("broken") if draw.random() < 0.05 else None,
    )


def run_both(seed: int, beam_size: int, goals: list[str]):
    plain = start(
        JOSH, RandomScript(seed), BaseRewards(goals), beam_size=beam_size, max_turn_tries=3
    )
    waiting = start(
        AsyncJOSH, RandomScript(seed), BaseRewards(goals), beam_size=beam_size, max_turn_tries=3
    )

    async def steps():
        return [await waiting.step() for _ in range(8)]

    return plain, [plain.step() for _ in range(8)], waiting, asyncio.run(steps())


SEEDS = st.integers(0, 10_000)
BEAMS = st.sampled_from([1, 2, 4, 6, 8])
GOALS = st.lists(st.sampled_from(["a", "b", "c"]), max_size=4)


@settings(max_examples=60)
@given(SEEDS, BEAMS, GOALS)
def test_plain_and_async_classes_agree_on_everything(seed, beam_size, goals):
    plain, plain_steps, waiting, waiting_steps = run_both(seed, beam_size, goals)
    assert plain_steps == waiting_steps
    assert plain.training_examples == waiting.training_examples
    assert plain.root.get_tree() == waiting.root.get_tree()
    assert len(plain.errors) == len(waiting.errors)


@settings(max_examples=60)
@given(SEEDS, BEAMS, GOALS)
def test_no_example_is_golden_without_being_successful(seed, beam_size, goals):
    plain, *_ = run_both(seed, beam_size, goals)
    assert all(successful or not golden for _, successful, golden in plain.training_examples)


@settings(max_examples=60)
@given(SEEDS, BEAMS, GOALS)
def test_the_reward_is_the_share_of_goals_and_never_falls(seed, beam_size, goals):
    plain, steps, *_ = run_both(seed, beam_size, goals)
    rewards = [reward for reward, _ in steps]
    assert rewards == sorted(rewards)
    if goals:
        assert rewards[-1] == pytest.approx(1 - len(plain.rewards) / len(goals))


def test_all_leaves_of_a_pass_are_in_flight_together():
    arrived = 0
    everyone_is_here = asyncio.Event()

    async def agent_step(agent, **_):
        nonlocal arrived
        arrived += 1
        if arrived == 4:
            everyone_is_here.set()
        await asyncio.wait_for(everyone_is_here.wait(), timeout=5)
        return agent, True

    async def user_step(user, agent):
        return agent, False

    async def run():
        josh = AsyncJOSH(BaseRewards(["a"]), agent_step, user_step, lambda a: a, BaseJOSHAgent(), 0)
        josh.expand_tree()
        josh.expand_tree()
        await josh.step_agent()
        return josh.errors

    assert asyncio.run(run()) == []


def test_the_left_leaf_wins_even_if_the_right_one_is_faster():
    async def agent_step(agent, **_):
        agent.add_message({"role": "assistant", "content": str(len(started))})
        started.append(agent)
        if len(started) == 1:
            await asyncio.sleep(0.01)
        agent.recent_actions = ["a"]
        return agent, True

    async def user_step(user, agent):
        return agent, False

    async def run():
        josh = AsyncJOSH(
            BaseRewards(["a"]), agent_step, user_step, lambda a: a, BaseJOSHAgent(), 0, beam_size=2
        )
        await josh.step()
        return josh.root.agent

    started: list[BaseJOSHAgent] = []
    assert asyncio.run(run()) is started[0]


def test_rewards_that_wait_are_asked_asynchronously():
    class Judge(BaseRewards):
        async def is_reward_async(self, agent_actions):
            await asyncio.sleep(0)
            return "b" in agent_actions, ["b"]

        def is_reward(self, agent_actions):
            raise AssertionError("must not be asked")

    josh = start(AsyncJOSH, Script(HIT_A, HIT_B), Judge(["b"]), beam_size=2)
    assert asyncio.run(josh.step()) == (1.0, True)
