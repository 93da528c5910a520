"""What josh-train gets wrong and the compatible classes do not."""

import asyncio

import pytest
from compat.josh_script import Move, Script, last_words, start

from drl.compat._josh_examples import ExampleIndex, fingerprint
from drl.compat.josh import JOSH, AsyncJOSH, BaseJOSHAgent, BaseRewards, Node, trim_user_msg

TALK, HIT_A = Move(), Move(["a"])
USER = {"role": "user", "content": "hi"}
AGENT = {"role": "assistant", "content": "hello"}


def step_of(josh):
    return asyncio.run(josh.step()) if isinstance(josh, AsyncJOSH) else josh.step()


both_engines = pytest.mark.parametrize("engine", [JOSH, AsyncJOSH])


@pytest.mark.parametrize("num_messages", [0, 1, 2, 3])
def test_nothing_is_left_when_all_messages_are_the_users(num_messages):
    assert trim_user_msg([USER] * num_messages) == []


def test_only_the_last_messages_of_the_user_are_trimmed():
    assert trim_user_msg([USER, AGENT, USER, USER]) == [USER, AGENT]
    assert trim_user_msg([USER, AGENT]) == [USER, AGENT]


@both_engines
def test_only_leaves_that_ran_out_of_tries_get_the_error_message(engine):
    goes_on = Move(hands_over=False)
    script = Script(goes_on, goes_on, TALK, goes_on)  # two passes; the left leaf finishes
    josh = start(engine, script, BaseRewards(["a"]), beam_size=2, max_turn_tries=2)
    step_of(josh)
    left, right = (leaf.agent.messages for leaf in josh.root.get_leaves())
    assert [message["content"] for message in left] == ["turn 0", "turn 2", "go on"]
    assert [message["content"] for message in right] == [
        "turn 1",
        "turn 3",
        "out of tries",
        "go on",
    ]


def test_an_action_done_twice_hits_one_goal_of_its_kind():
    rewards = BaseRewards(["a", "b"])
    assert rewards.is_reward(["a", "x", "a"]) == (True, ["a"])
    rewards.delete_reward(["a"])
    assert rewards.is_reward(["a"]) == (False, [])


def test_an_action_done_twice_hits_two_equal_goals():
    rewards = BaseRewards(["a", "a", "b"])
    assert rewards.is_reward(["a", "a", "a"]) == (True, ["a", "a"])


def test_closing_a_goal_that_is_not_open_never_raises():
    rewards = BaseRewards(["a"])
    rewards.delete_reward(["a", "a"])
    assert len(rewards) == 0


def test_the_callers_list_of_goals_is_left_alone():
    goals = ["a"]
    BaseRewards(goals).delete_reward(["a"])
    assert goals == ["a"]


@both_engines
def test_a_failed_agent_step_ends_its_leaf_only_and_is_remembered(engine, caplog):
    script = Script(Move(error=ValueError("no connection")), TALK)
    josh = start(engine, script, BaseRewards(["a"]), beam_size=2)
    assert step_of(josh) == (0.0, False)
    assert len(josh.root.get_leaves()) == 1
    assert [(stage, str(error)) for stage, error in josh.errors] == [
        ("agent_step", "no connection")
    ]
    assert "no connection" in caplog.text


@both_engines
def test_a_failed_user_step_ends_its_leaf_only_and_is_remembered(engine):
    script = Script(user_errors=frozenset({0}))
    josh = start(engine, script, BaseRewards(["a"]), beam_size=2)
    assert step_of(josh) == (0.0, False)
    assert len(josh.root.get_leaves()) == 1
    assert [stage for stage, _ in josh.errors] == ["user_step"]


@both_engines
def test_a_leaf_that_failed_is_no_negative_example(engine):
    script = Script(Move(error=ValueError("no connection")), TALK, TALK, HIT_A)
    josh = start(engine, script, BaseRewards(["a"]), beam_size=2)
    step_of(josh)
    assert step_of(josh) == (1.0, True)
    assert last_words(josh.training_examples) == [
        (None, True, True),
        # "turn 0" broke and is left out
        ("turn 1", True, True),
        ("turn 2", False, False),
        ("turn 3", True, True),
    ]


@both_engines
def test_a_leaf_that_was_rewarded_before_it_failed_stays_an_example(engine):
    script = Script(Move(["a"], hands_over=False), TALK, Move(error=ValueError("no connection")))
    josh = start(engine, script, BaseRewards(["a", "b"]), beam_size=2)
    assert step_of(josh) == (0.5, True)  # the winner is over, so no leaf is alive
    assert last_words(josh.training_examples) == [
        (None, True, True),
        ("turn 2", True, True),
        ("turn 1", False, False),
    ]


def test_an_action_of_an_earlier_step_is_not_judged_again():
    def agent_step(agent, **_):
        if not agent.messages:
            agent.recent_actions = ["a"]
        agent.add_message(dict(AGENT))
        return agent, True

    josh = JOSH(
        BaseRewards(["a", "a"]),
        agent_step,
        Script().user_step,
        lambda agent: agent,
        BaseJOSHAgent(),
        user=None,
        beam_size=1,
    )
    assert josh.step() == (0.5, False)
    assert josh.step() == (0.5, False)


def test_an_action_before_the_rollout_is_not_judged():
    agent = BaseJOSHAgent()
    agent.recent_actions = ["a"]
    script = Script(Move(error=ValueError("at once")))
    josh = start(JOSH, script, BaseRewards(["a"]), beam_size=1, root_agent=agent)
    assert josh.step() == (0.0, True)


def test_the_actions_of_a_step_are_still_there_when_the_user_answers():
    seen = []

    class Listener(Script):
        def user_step(self, user, agent):
            seen.append(agent.recent_actions)
            return super().user_step(user, agent)

    start(JOSH, Listener(Move(["x"])), BaseRewards(["a"]), beam_size=1).step()
    assert seen == [["x"]]


@both_engines
@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_is_never_swallowed(engine, error):
    josh = start(engine, Script(Move(error=error())), BaseRewards(["a"]), beam_size=1)
    with pytest.raises(error):
        step_of(josh)
    assert josh.errors == []


def test_a_cancelled_rollout_stops_its_leaves():
    async def agent_step(agent, **_):
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append(agent)
            raise
        return agent, True

    async def run():
        josh = AsyncJOSH(
            BaseRewards(["a"]), agent_step, agent_step, lambda a: a, BaseJOSHAgent(), 0, beam_size=2
        )
        task = asyncio.create_task(josh.step())
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled(), josh.errors

    cancelled: list[BaseJOSHAgent] = []
    assert asyncio.run(run()) == (True, [])
    assert len(cancelled) == 2


@both_engines
def test_an_error_in_the_rewards_is_raised_once_all_leaves_have_moved(engine):
    class Broken(BaseRewards):
        def is_reward(self, agent_actions):
            raise ValueError("no verdict")

    script = Script()
    josh = start(engine, script, Broken(["a"]), beam_size=2)
    with pytest.raises(ValueError, match="no verdict"):
        step_of(josh)
    assert script.num_agent_calls == 2


def test_equal_values_have_equal_fingerprints():
    assert fingerprint({"a": [1, (2, None)], "b": True}) == fingerprint(
        {"b": 1, "a": [1.0, (2, None)]}
    )
    assert fingerprint([1]) != fingerprint((1,))


def test_values_that_cannot_be_hashed_are_still_told_apart():
    examples = []
    index = ExampleIndex()
    one, two = ([{"x": bytearray(b"1")}], True, True), ([{"x": bytearray(b"2")}], True, True)
    index.extend(examples, [one, two, ([{"x": bytearray(b"1")}], True, True)])
    assert examples == [one, two]


def test_examples_may_be_emptied_or_exchanged_between_harvests():
    example = ([dict(AGENT)], True, True)
    index = ExampleIndex()
    examples = []
    index.extend(examples, [example])
    examples.clear()
    index.extend(examples, [example])
    assert examples == [example]
    others = [([dict(AGENT)], True, True)]
    index.extend(others, [example])
    assert len(others) == 1


def test_a_failed_node_is_an_example_only_if_it_was_successful():
    node = Node(BaseJOSHAgent([AGENT]))
    node.failed = True
    assert node.get_tree() == []
    node.is_successful = True
    assert len(node.get_tree()) == 1
