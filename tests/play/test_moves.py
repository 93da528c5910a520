"""Moves that cannot be made: dialogues that outgrow a model, and those that break."""

import asyncio
import logging

import pytest
from scripted import ScriptedAgent, ScriptedUser, cast_of, hit, say, task_of

from drl.errors import DialogueError
from drl.llm.base import LLM, ContextOverflowError
from drl.rollout.single import SingleRollout
from drl.tree.codec import from_line, to_line
from drl.tree.dialogue_tree import DialogueTree
from drl.types import Outcome, Step, StopReason, Turn
from drl.user_simulator.base import Encounter

TOO_LONG = ContextOverflowError("9000 tokens do not fit into 8192")


class RaisingUser(ScriptedUser):
    """Raises in its second turn."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self._error = error

    async def speak(self, encounter: Encounter, llm: LLM) -> Turn:
        if encounter.history:
            raise self._error
        return await super().speak(encounter, llm)


def play(agent: ScriptedAgent, user: ScriptedUser | None = None) -> DialogueTree:
    rollout = SingleRollout(max_steps=3, max_calls=None, concurrency=1)
    return asyncio.run(rollout.run(task_of("a", "b"), 0, cast_of(agent, user)))


def hits_then_overflows(situation) -> Step:
    if situation.steps:
        raise TOO_LONG
    return hit("a")


def test_an_agent_that_outgrows_its_model_keeps_what_it_reached_before_in_that_turn():
    tree = play(ScriptedAgent(hits_then_overflows))
    (leaf,) = tree.leaves()
    assert leaf.stop is StopReason.CONTEXT_OVERFLOW
    assert leaf.turn.failure is not None
    assert leaf.turn.failure.cause == "9000 tokens do not fit into 8192"
    assert leaf.score == 0.5  # one of two goals
    assert tree.outcome(leaf) is Outcome.SUCCESSFUL
    assert not tree.is_broken
    assert from_line(to_line(tree)) == tree


def test_an_agent_that_outgrows_its_model_without_a_goal_has_failed():
    def overflows(situation) -> Step:
        raise TOO_LONG

    tree = play(ScriptedAgent(overflows))
    (leaf,) = tree.leaves()
    assert (leaf.score, tree.outcome(leaf)) == (0.0, Outcome.FAILED)


def test_a_customer_who_outgrows_its_model_leaves_the_agent_without_blame():
    tree = play(ScriptedAgent(lambda situation: say()), RaisingUser(TOO_LONG))
    (leaf,) = tree.leaves()
    assert leaf.stop is StopReason.CONTEXT_OVERFLOW
    assert (leaf.score, tree.outcome(leaf)) == (0.0, Outcome.CENSORED)


@pytest.mark.parametrize(
    ("error", "shows_traceback"), [(DialogueError("no quote"), False), (KeyError("bug"), True)]
)
def test_only_a_fault_in_the_code_is_logged_with_its_traceback(caplog, error, shows_traceback):
    with caplog.at_level(logging.WARNING):
        tree = play(ScriptedAgent(lambda situation: say()), RaisingUser(error))
    (leaf,) = tree.leaves()
    assert leaf.stop is StopReason.ERROR
    assert leaf.score is None
    (record,) = caplog.records
    assert (record.exc_info is not None and record.exc_info[0] is not None) is shows_traceback


def test_calls_past_the_limit_are_not_carried_out():
    # three calls a turn: of five in one step the first three count, and then a reply is due
    tree = play(ScriptedAgent(lambda s: say() if s.must_reply else hit("a", "x", "y", "b", "z")))
    first = tree.nodes[1].turn
    assert [executed.call.name for executed in first.executed()] == ["a", "x", "y"]
    assert [step.reply for step in first.steps] == [None, "hello"]
