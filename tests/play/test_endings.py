"""How dialogues end: by a call, by a limit of steps, after the last goal; and what searches do."""

import asyncio
from dataclasses import replace

from scripted import CountingSession, CountingWorld, ScriptedAgent, cast_of, hit, josh, say, task_of

from drl.environment.base import Session
from drl.play.cast import Cast
from drl.play.moves import Play
from drl.rollout.base import Rollout
from drl.rollout.single import SingleRollout
from drl.tree.codec import from_line, to_line
from drl.tree.dialogue_tree import DialogueTree
from drl.types import Outcome, Role, StopReason, Task, ToolCall, ToolResult

SINGLE = SingleRollout(max_steps=3, max_calls=None, concurrency=1)


class EndingSession(CountingSession):
    """Its tool `leave` ends the dialogue."""

    async def call(self, call: ToolCall) -> ToolResult:
        result = await super().call(call)
        return replace(result, ends=call.name == "leave")

    def fork(self) -> "EndingSession":
        return EndingSession(self.called)


class EndingWorld(CountingWorld):
    def open(self, task: Task) -> Session:
        return EndingSession()


def grown(rollout: Rollout, cast: Cast, task: Task) -> DialogueTree:
    return asyncio.run(rollout.run(task, 0, replace(cast, environment=EndingWorld())))


def test_a_call_that_ends_the_dialogue_is_its_last():
    agent = ScriptedAgent(lambda situation: hit("a", "leave", "b"))
    tree = grown(SINGLE, cast_of(agent), task_of("a", "b"))
    (leaf,) = tree.leaves()
    assert leaf.stop is StopReason.AGENT_ENDED
    assert (leaf.turn.text, leaf.turn.hangs_up) == ("", True)
    (step,) = leaf.turn.steps
    assert [call.name for call in step.calls] == ["a", "leave"]  # nobody saw b fail or succeed
    assert leaf.score == 0.5
    assert from_line(to_line(tree)) == tree


def test_a_dialogue_that_was_ended_by_a_call_can_be_gone_through_again():
    cast = replace(
        cast_of(ScriptedAgent(lambda situation: hit("leave"))), environment=EndingWorld()
    )
    tree = grown(SINGLE, cast, task_of("a"))
    (leaf,) = tree.leaves()
    branch = asyncio.run(Play(task_of("a"), 0, cast).at(tree, leaf.id))
    assert branch.session.digest() == "leave"
    assert branch.agent_view[-1].hangs_up


def test_a_limit_of_steps_ends_a_dialogue_with_the_turn_that_reaches_it():
    agent = ScriptedAgent(lambda situation: say() if situation.steps else hit("a"))
    limited = replace(SINGLE, max_calls=3)  # two steps a turn
    tree = grown(limited, cast_of(agent), task_of("a", "b"))
    (leaf,) = tree.leaves()
    assert tree.num_agent_calls == 4
    assert leaf.stop is StopReason.MAX_TURNS
    assert not leaf.censored  # a limit of the benchmark, not of the purse


def test_a_search_that_does_not_stop_at_its_goals_goes_on_alone_to_the_end():
    agent = ScriptedAgent(lambda situation: hit("a") if not situation.history[1:] else say())
    agent.max_tool_calls = 1
    task, cast = task_of("a"), cast_of(agent)
    stopped = grown(josh(max_steps=4), cast, task)
    went_on = grown(josh(max_steps=4, stop_at_goals=False), cast, task)
    assert {leaf.stop for leaf in stopped.leaves()} == {
        StopReason.GOALS_REACHED,
        StopReason.COLLAPSED,
    }
    (end,) = [leaf for leaf in went_on.leaves() if leaf.stop is StopReason.MAX_TURNS]
    turns = [node.turn.role for node in went_on.path(end.id)].count(Role.AGENT)
    assert turns == 4
    assert went_on.outcome(end) is Outcome.GOLDEN
    assert end.score == 1.0


def leaver(situation):
    """Of two siblings one hits goal a and goes on; the other hits it and leaves."""
    if situation.steps:
        return say()
    if situation.history[1:]:
        return hit("b")
    return hit("a", "leave") if situation.seed % 2 else hit("a")


def test_a_search_goes_on_with_a_branch_that_can():
    outcomes = set()
    for seed in range(8):
        tree = grown(
            josh(beam_size=2, max_steps=2),
            cast_of(ScriptedAgent(leaver), seed=seed),
            task_of("a", "b"),
        )
        left = [leaf for leaf in tree.leaves() if leaf.stop is StopReason.AGENT_ENDED]
        outcomes.add((len(left), tree.best_leaf().score))
        assert all(leaf.events for leaf in left)
    # both went on, one left, both left: only then is goal b out of reach
    assert outcomes == {(0, 1.0), (1, 1.0), (2, 0.5)}


def test_a_branch_that_ended_with_the_last_goal_is_golden():
    tree = grown(
        josh(beam_size=2, max_steps=3),
        cast_of(ScriptedAgent(lambda situation: hit("a", "leave"))),
        task_of("a"),
    )
    golden, other = tree.leaves()
    assert (tree.outcome(golden), tree.outcome(other)) == (Outcome.GOLDEN, Outcome.SUCCESSFUL)
    assert {golden.stop, other.stop} == {StopReason.AGENT_ENDED}
    assert len(tree.nodes) == 3  # the customer's opening and one turn on each branch
