"""A stored branch, made again."""

import asyncio
import random
from dataclasses import replace

import pytest
from scripted import CountingSession, CountingWorld, ScriptedAgent, cast_of, hit, say, task_of

from drl.errors import DataError
from drl.play.moves import Branch, Play
from drl.tree.codec import from_line, to_line
from drl.tree.dialogue_tree import DialogueTree
from drl.types import Failure, Role, StopReason, ToolResult, Turn


def two_exchanges(act) -> tuple[DialogueTree, Branch, Play]:
    """A dialogue as the store gives it back, the live branch at its end, and its play."""
    task = task_of("a", "b")
    play = Play(task, 0, cast_of(ScriptedAgent(act)))
    tree = DialogueTree(task.id, 0, 2)

    async def grow() -> Branch:
        branch = play.start()
        for move in (play.user_turn, play.agent_turn) * 2:
            await play.record(tree, branch, await move(branch))
        return branch

    return tree, asyncio.run(grow()), play


def test_both_sides_see_and_the_world_holds_what_they_did_before():
    tree, live, play = two_exchanges(lambda s: say() if s.steps else hit("a", "x"))
    tree.nodes[-1].stop = StopReason.MAX_TURNS
    again = asyncio.run(play.at(from_line(to_line(tree)), tree.nodes[-1].id))
    assert (again.agent_view, again.user_view) == (live.agent_view, live.user_view)
    assert (again.node, again.open_goals, again.steps) == (live.node, live.open_goals, ())
    assert again.session.digest() == live.session.digest() == "a,x,a,x"


def test_a_turn_that_was_stored_in_parts_goes_on_where_it_was():
    task = task_of("a")
    play = Play(task, 0, cast_of(ScriptedAgent(lambda s: say() if s.steps else hit("a"))))
    tree = DialogueTree(task.id, 0, 1)

    async def grow() -> tuple[Branch, Branch]:
        live = play.start()
        await play.record(tree, live, await play.user_turn(live))
        await play.record(tree, live, await play.agent_step(live))
        return live, await play.at(tree, 1)

    live, again = asyncio.run(grow())
    assert again.steps == live.steps
    assert len(again.steps) == 1
    assert again.agent_view == live.agent_view


def test_what_it_does_next_is_seeded_by_the_run_and_the_node():
    tree, live, play = two_exchanges(lambda _: say())
    first, last, last_again = (asyncio.run(play.at(tree, node)).key for node in (1, 3, 3))
    assert last == last_again
    assert len({first, last, live.key}) == 3


class RandomSession(CountingSession):
    async def call(self, call):
        return ToolResult(random.random())


class RandomWorld(CountingWorld):
    def open(self, task):
        return RandomSession()


def test_a_world_that_draws_at_random_is_found_out():
    tree, _, play = two_exchanges(lambda s: say() if s.steps else hit("a"))
    elsewhere = replace(play, cast=replace(play.cast, environment=RandomWorld()))
    with pytest.raises(DataError, match="task task, trial 0, node 1: a gives another result"):
        asyncio.run(elsewhere.at(tree, 3))


def test_a_dialogue_that_broke_cannot_be_made_again():
    tree, _, play = two_exchanges(lambda _: say())
    tree.add(3, Turn(Role.AGENT, "", failure=Failure("agent", "gone")), ())
    with pytest.raises(DataError, match="node 4: the dialogue broke there"):
        asyncio.run(play.at(tree, 4))
