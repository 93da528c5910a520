"""What programs that were written for josh-train call, and how often they are called back."""

import asyncio

import pytest
from compat.josh_script import Move, Script, start

from drl.compat.josh import JOSH, BaseJOSHAgent, BaseJOSHUser, BaseRewards, Node

HELLO = {"role": "assistant", "content": "hello!"}
HI = {"role": "user", "content": "hi there!"}


def first_program(**settings):
    """The program that josh-train's README starts with, in our words."""

    def add_error_message(agent):
        agent.messages.append({"role": "assistant", "content": "no tries left"})
        return agent

    def step_agent(agent, **kwargs):
        return agent, agent.step(**kwargs)

    def step_user(user, agent):
        return user.step(agent)

    return JOSH(
        rewards=BaseRewards(["say hello", "say hello", "say hello"]),
        agent_step=step_agent,
        user_step=step_user,
        add_error_message=add_error_message,
        root_agent=BaseJOSHAgent(),
        user=BaseJOSHUser(),
        **settings,
    )


def test_the_first_program_is_done_after_three_steps_with_the_measured_values():
    josh = first_program()
    rewards, sizes, done = [], [], False
    while not done:
        reward, done = josh.step()
        rewards.append(reward)
        sizes.append(len(josh.training_examples))
    # three equal goals, one hit a step; each harvest adds a rewarded leaf of either kind, and the
    # first one the empty root as well
    assert rewards == [pytest.approx(1 / 3), pytest.approx(2 / 3), 1.0]
    assert sizes == [3, 5, 7]


def test_the_first_program_gives_the_measured_training_examples():
    josh = first_program()
    for _ in range(3):
        josh.step()
    one, two, three = [HELLO], [HELLO, HI, HELLO], [HELLO, HI, HELLO, HI, HELLO]
    assert josh.training_examples == [
        ([], True, True),
        (one, True, True),
        (one, True, False),
        (two, True, True),
        (two, True, False),
        (three, True, True),
        (three, True, False),
    ]
    assert josh.golden_agent is not None
    assert josh.golden_agent.messages_internal == three


def test_plain_functions_work_inside_a_running_event_loop():
    async def notebook():
        return first_program().step()

    assert asyncio.run(notebook()) == (pytest.approx(1 / 3), False)


def test_debug_says_what_happens(capsys):
    josh = first_program(debug=True, beam_size=2)
    josh.step()
    assert capsys.readouterr().out.splitlines() == [
        "JOSH: the tree grows to 2 leaves",
        "JOSH: 2 agents take their turn",
        "JOSH: goals hit: ['say hello']; the tree collapses to the branch that hit them",
        "JOSH: 1 users answer",
    ]


def test_without_debug_nothing_is_printed(capsys):
    first_program().step()
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("beam_size", "leaves"),
    [
        (1, [1, 1, 1, 1, 1]),
        (2, [2, 2, 2, 2, 2]),
        (4, [2, 4, 4, 4, 4]),
        (6, [2, 4, 4, 4, 4]),  # 8 children do not fit
        (8, [2, 4, 8, 8, 8]),
        (16, [2, 4, 8, 16, 16]),
    ],
)
def test_leaves_double_while_all_children_fit_into_the_beam(beam_size, leaves):
    script = Script()
    josh = start(JOSH, script, BaseRewards(["never"]), beam_size=beam_size)
    seen = []
    for _ in range(5):
        assert josh.step() == (0.0, False)
        seen.append(len(josh.root.get_leaves()))
    assert seen == leaves


@pytest.mark.parametrize(
    ("beam_size", "num_agent_calls"),
    [
        (1, 15),
        (2, 2 * 15),
        (4, 2 + 4 * 14),
        (8, 2 + 4 + 8 * 13),  # 110
        (16, 2 + 4 + 8 + 16 * 12),
    ],
)
def test_fifteen_steps_without_a_reward_cost_what_was_measured(beam_size, num_agent_calls):
    script = Script()
    agent, _ = script.user_step(None, BaseJOSHAgent())  # the customer opens, as in ToolWOZ
    josh = start(JOSH, script, BaseRewards(["never"]), beam_size=beam_size, root_agent=agent)
    for _ in range(15):
        josh.step()
    assert (script.num_agent_calls, script.num_user_calls) == (num_agent_calls, num_agent_calls + 1)


def test_the_tree_grows_again_after_leaves_have_died():
    script = Script(hang_ups=frozenset({0}))
    josh = start(JOSH, script, BaseRewards(["never"]), beam_size=2)
    josh.step()
    assert len(josh.root.get_leaves()) == 1
    josh.step()
    assert len(josh.root.get_leaves()) == 2


def test_a_rollout_ends_when_every_user_has_hung_up():
    script = Script(hang_ups=frozenset({0, 1}))
    josh = start(JOSH, script, BaseRewards(["never"]), beam_size=2)
    assert josh.step() == (0.0, True)
    assert josh.step() == (0.0, True)
    assert script.num_agent_calls == 2


def test_the_agent_is_called_with_the_keywords_of_josh_train():
    script = Script()
    start(JOSH, script, BaseRewards(["never"])).step()
    assert script.keywords == {"model", "tokenizer", "env"}


def test_a_rollout_without_goals_is_done_at_once_with_reward_zero():
    script = Script()
    josh = start(JOSH, script, BaseRewards([]))
    assert josh.step() == (0.0, True)
    assert (script.num_agent_calls, script.num_user_calls) == (2, 0)


def test_defaults_and_attributes_are_those_of_josh_train():
    rewards = BaseRewards(["a", "b"])
    josh = start(JOSH, Script(), rewards)
    assert (josh.beam_size, josh.max_turn_tries, josh.debug) == (8, 10, False)
    assert (josh.current_reward, josh.num_total_rewards) == (0.0, 2)
    assert (josh.training_examples, josh.golden_agent) == ([], None)
    assert josh.rewards is rewards
    other = BaseJOSHAgent([HI])
    josh.set_root_agent(other)
    assert josh.root.agent is other


def test_an_agent_copies_the_messages_it_starts_with():
    messages = [dict(HI)]
    agent = BaseJOSHAgent(messages)
    messages[0]["content"] = "changed"
    agent.messages[0]["content"] = "also changed"
    assert agent.messages_internal == [HI]
    assert BaseJOSHAgent().messages == BaseJOSHAgent([]).messages_internal == []


def test_rewards_may_be_subclassed():
    class AnyDigit(BaseRewards):
        def is_reward(self, agent_actions):
            hit = [goal for goal in self.rewards if any(str(a).isdigit() for a in agent_actions)]
            return bool(hit), hit[:1]

    script = Script(Move(["x"]), Move(["7"]))
    josh = start(JOSH, script, AnyDigit(["first", "second"]), beam_size=2)
    assert josh.step() == (0.5, False)
    assert josh.rewards.rewards == ["second"]


def test_leaves_and_examples_are_read_from_left_to_right():
    root = Node(BaseJOSHAgent([HELLO]))
    root.left, root.right = Node(BaseJOSHAgent([HELLO] * 2), root), Node(BaseJOSHAgent(), root)
    root.left.left = Node(BaseJOSHAgent([HELLO] * 3), root.left)
    root.left.right = Node(BaseJOSHAgent([HELLO] * 4), root.left)
    assert root.get_leaves() == [root.left.left, root.left.right, root.right]
    assert [len(messages) for messages, _, _ in root.get_tree()] == [1, 2, 3, 4, 0]
    root.left.left.conversation_over = True
    assert root.get_leaves() == [root.left.right, root.right]


def test_a_tree_deeper_than_the_stack_can_be_read():
    root = node = Node(BaseJOSHAgent())
    for _ in range(3000):
        node.left = Node(BaseJOSHAgent(), node)
        node = node.left
    assert root.get_leaves() == [node]
    assert len(root.get_tree()) == 3001
