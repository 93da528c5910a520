"""Released rollouts as trees: the nodes of the search, what was said, what was earned."""

import asyncio

import pytest
from scripted import CountingSession, CountingWorld, task_of

from drl.agent.base import Situation
from drl.agent.react import ReactAgent
from drl.domains.toolwoz.release import Entry, Path, Rollout
from drl.errors import DataError
from drl.mining._recorded_agent import RecordedAgent
from drl.mining._released_trees import World, to_tree
from drl.reward.goal_api import GoalApiReward
from drl.tree.dialogue_tree import DialogueTree
from drl.types import Outcome, Role, StopReason, Toolbox, ToolSpec

CALL = Entry("wrote", 'PLAN search <COMMAND_END> APICALL {"name": "goal_0", "parameters": {}}')
FOUND = Entry("returned", '[{"name": "hakka"}]')
HELLO = Entry("said", "hello")
MORE = Entry("said", "and?")
BYE = Entry("said", "thanks END_CONVERSATION")


class Desk(CountingSession):
    @property
    def toolbox(self) -> Toolbox:
        return Toolbox(tuple(ToolSpec(f"goal_{n}", "", {}) for n in range(2)))


class DeskWorld(CountingWorld):
    def open(self, task):
        return Desk()


def speak(text: str) -> Entry:
    return Entry("wrote", f"PLAN so <COMMAND_END> SPEAK {text} <COMMAND_END>")


def react() -> ReactAgent:
    return ReactAgent(
        style="paper",
        temperature=1.0,
        top_p=None,
        top_k=None,
        max_tokens=256,
        max_tool_calls=3,
        limit_on="requests",
    )


def tree_of(*paths: tuple[tuple[Entry, ...], bool, bool], full: bool = False) -> DialogueTree:
    rollout = Rollout("task", tuple(Path(*path) for path in paths), full)
    world = World(react(), DeskWorld(), GoalApiReward(judge_against="open"))
    return asyncio.run(to_tree(rollout, task_of("goal_0", "goal_1"), world))


ROOT = ((), True, True)
LEFT = (HELLO, speak("left"))
RIGHT = (HELLO, CALL, FOUND, speak("right"))


def test_siblings_share_the_words_of_their_customer_and_what_they_earned_is_judged():
    tree = tree_of(ROOT, (LEFT, False, False), (RIGHT, True, True))
    hello, left, right = tree.nodes
    assert [node.parent for node in tree.nodes] == [None, 0, 0]
    assert (hello.turn.role, hello.turn.text) == (Role.USER, "hello")
    assert (left.turn.text, right.turn.text) == ("left", "right")
    assert [step.text for step in right.turn.steps] == [CALL.text, RIGHT[3].text]
    assert right.turn.steps[0].results[0].value == [{"name": "hakka"}]
    assert right.events[0].detail == {"goal": 0, "kind": "goal_0", "step": 0, "call": 0}
    assert (right.golden, right.successful, right.open_goals) == (True, True, (1,))
    assert (left.stop, tree.outcome(left)) == (StopReason.COLLAPSED, Outcome.CENSORED)
    assert (right.stop, right.score) == (StopReason.MAX_TURNS, 0.5)


def test_equal_siblings_stay_apart():
    tree = tree_of(ROOT, (RIGHT, True, False), (RIGHT, True, True))
    assert [node.golden for node in tree.nodes] == [True, False, True]
    assert tree.outcome(tree.nodes[1]) is Outcome.SUCCESSFUL


def test_a_full_rollout_reaches_in_its_last_golden_turn_what_is_open():
    tree = tree_of(ROOT, (LEFT, False, False), (RIGHT, True, True), full=True)
    assert tree.nodes[2].stop is StopReason.GOALS_REACHED
    assert tree.nodes[2].score == 1.0
    assert sum(event.amount for event in tree.nodes[2].events) == 1.0


def test_the_next_harvest_goes_on_below_the_golden_turn():
    last = (*RIGHT, MORE, speak("done"))
    other = (*RIGHT, MORE, speak("no"))
    golden = (RIGHT, True, True)
    tree = tree_of(
        ROOT, (LEFT, False, False), golden, golden, (other, False, False), (last, True, True)
    )
    assert [node.parent for node in tree.nodes] == [None, 0, 0, 2, 3, 3]
    assert [node.id for node in tree.nodes if node.golden] == [0, 2, 3, 5]
    assert tree.nodes[3].open_goals == (1,)


def test_a_customer_who_hangs_up_ends_the_branch_as_failed():
    tree = tree_of(ROOT, ((*LEFT, BYE), False, False), (RIGHT, True, True))
    leaf = tree.nodes[2]
    assert leaf.turn.hangs_up
    assert (leaf.stop, tree.outcome(leaf)) == (StopReason.USER_ENDED, Outcome.FAILED)


def test_an_agent_that_ran_out_of_tries_is_heard_to_say_so():
    gave_up = Entry("gave_up", "Error: Agent ran out of retries.")
    tree = tree_of(ROOT, ((HELLO, CALL, FOUND, gave_up), False, False), (RIGHT, True, True))
    assert tree.nodes[1].turn.text == "Error: Agent ran out of retries."
    assert len(tree.nodes[1].turn.steps) == 1


def test_a_malformed_call_refuses_the_whole_output():
    two = Entry("wrote", 'APICALL {"name": "goal_0", "parameters": {}} APICALL {oops')
    failure = Entry("returned", '"FAILURE INCORRECTLY FORMATTED APICALL"')
    tree = tree_of(
        ROOT, ((HELLO, two, FOUND, failure), False, False), (RIGHT, True, True), full=True
    )
    (step,) = tree.nodes[1].turn.steps
    assert (step.text, step.calls) == (two.text, ())
    assert [result.error for result in step.results] == ["FAILURE INCORRECTLY FORMATTED APICALL"]


def test_paths_that_no_search_leaves_are_refused():
    with pytest.raises(DataError, match="task: the paths are not those of a search"):
        tree_of(ROOT, (LEFT, False, False), (RIGHT, True, True), ((MORE, speak("x")), False, False))


def test_the_recorded_agent_shows_outputs_and_returns_to_the_letter():
    tree = tree_of(ROOT, (LEFT, False, False), (RIGHT, True, True))
    agent = RecordedAgent(react())
    toolbox = Desk().toolbox
    history = (tree.nodes[0].turn, tree.nodes[2].turn, tree.nodes[0].turn)
    _, *shown = agent.request(Situation(history, (), toolbox, seed=0)).messages
    assert [(message.role, message.content) for message in shown] == [
        ("user", "hello"),
        ("assistant", CALL.text),
        ("user", 'APIRETURN [{"name": "hakka"}]'),
        ("assistant", RIGHT[3].text),
        ("user", "hello"),
    ]
    step = tree.nodes[2].turn.steps[0]
    assert agent.rewrite(step, toolbox) == (step,)
    assert agent.output(step, 0).content == CALL.text
