import asyncio
from dataclasses import replace

import pytest
from scripted import cast_of, task_of

from drl.agent.plain import PlainAgent
from drl.credit.goal_events import GoalEventsCredit
from drl.credit.terminal import TerminalCredit
from drl.errors import ConfigError
from drl.models.chat_template import ChatTemplate
from drl.play.moves import Play
from drl.trainer._trajectories import Recorder
from drl.tree.dialogue_tree import DialogueTree
from drl.types import Failure, RewardEvent, Role, Sampled, Step, StopReason, Turn
from tests.llm.tiny_model import byte_tokenizer

PLAIN_TEXT = "{% for m in messages %}{{ m.content }}{% endfor %}"
TASK = task_of()
AGENT = PlainAgent(system=None, temperature=1.0, top_p=None, top_k=None, max_tokens=8, stop=[])


def template() -> ChatTemplate:
    return ChatTemplate(byte_tokenizer(), PLAIN_TEXT)


def ids(text: str) -> tuple[int, ...]:
    return template().ids(text)


def recorder(**changes) -> Recorder:
    plain = Recorder(
        credit=TerminalCredit(), template=template(), context=None, bootstrap_at_limit=False
    )
    return replace(plain, **changes)


def wrote(prompt: str, text: str) -> Step:
    """A step whose tokens are its bytes."""
    tokens = ids(text)
    return Step(text, reply=text, sampled=Sampled(ids(prompt), tokens, (0.0,) * len(tokens)))


def tree_of(*turns: Turn, stop: StopReason, score: float | None = 1.0, events=()) -> DialogueTree:
    tree, below = DialogueTree(TASK.id, 0, 0), None
    for turn in turns:
        below = tree.add(below, turn, ()).id
    tree.nodes[-1].stop, tree.nodes[-1].score = stop, score
    tree.nodes[-1].events = tuple(events)
    return tree


def user(text: str = "Hi") -> Turn:
    return Turn(Role.USER, text)


def agent(step: Step) -> Turn:
    return Turn(Role.AGENT, step.reply, (step,))


def record(tree: DialogueTree, **changes):
    async def run():
        return await recorder(**changes).trajectories(tree, TASK, cast_of(AGENT))

    return asyncio.run(run())


def test_a_trajectory_holds_the_very_tokens_that_were_sampled():
    tree = tree_of(user(), agent(wrote("Hi", "yes")), stop=StopReason.USER_ENDED)
    (trajectory,) = record(tree)
    (turn,) = trajectory.turns
    assert turn.calls == (Sampled(ids("Hi"), ids("yes"), (0.0,) * 3),)
    assert (trajectory.group, turn.reward, trajectory.next_prompt) == (TASK.id, 1.0, None)


def test_a_dialogue_that_broke_is_not_learned_from():
    broken = Turn(Role.AGENT, "", failure=Failure("agent", "fault"))
    tree = tree_of(user(), broken, stop=StopReason.ERROR, score=None)
    assert record(tree) == []


def test_a_dialogue_without_any_token_is_not_learned_from():
    tree = tree_of(user(), agent(wrote("Hi", "")), stop=StopReason.USER_ENDED)
    assert record(tree) == []


def test_the_limit_of_turns_is_an_end_unless_it_is_asked_what_would_have_come():
    tree = tree_of(user(), agent(wrote("Hi", "yes")), stop=StopReason.MAX_TURNS)
    (ended,) = record(tree)
    assert ended.next_prompt is None
    (cut,) = record(tree, bootstrap_at_limit=True)
    answer = asyncio.run(_answer(tree))
    assert cut.next_prompt == ids("Hi" + "yes" + answer)


async def _answer(tree: DialogueTree) -> str:
    play = Play(TASK, 0, cast_of(AGENT))
    turn = await play.user_turn(await play.at(tree, tree.nodes[-1].id))
    return turn.text or ""


def test_who_outgrew_the_context_is_valued_by_what_fits_of_the_prompt():
    overflown = Turn(Role.AGENT, "", failure=Failure("context_overflow", "too long"))
    tree = tree_of(
        user(),
        agent(wrote("Hi", "yes")),
        user("and now something long"),
        overflown,
        stop=StopReason.CONTEXT_OVERFLOW,
    )
    (trajectory,) = record(tree, context=8)
    assert trajectory.next_prompt == ids("Hiyesand now something long")[:8]
    assert len(trajectory.turns) == 1  # the turn that never was is none


def test_rewards_inside_a_text_go_to_the_tokens_that_complete_it():
    events = [RewardEvent(0.5, "f", {"character": 1}), RewardEvent(0.25, "f", {"character": 3})]
    tree = tree_of(
        user(), agent(wrote("Hi", "yes!")), stop=StopReason.USER_ENDED, score=0.75, events=events
    )
    (trajectory,) = record(tree, credit=GoalEventsCredit())
    (turn,) = trajectory.turns
    assert turn.token_rewards == ((0.5, 0.0, 0.25, 0.0),)
    assert turn.reward == pytest.approx(0.0)
    assert trajectory.total == pytest.approx(0.75)


def test_a_credit_that_moves_rewards_elsewhere_leaves_none_inside_a_text():
    events = [RewardEvent(0.5, "f", {"character": 1})]
    tree = tree_of(
        user(), agent(wrote("Hi", "yes!")), stop=StopReason.USER_ENDED, score=0.5, events=events
    )
    (trajectory,) = record(tree)
    assert trajectory.turns[0].token_rewards is None
    assert trajectory.total == pytest.approx(0.5)


def test_steps_without_tokens_are_refused_with_what_to_choose():
    tree = tree_of(
        user(), Turn(Role.AGENT, "x", (Step("x", reply="x"),)), stop=StopReason.MAX_TURNS
    )
    with pytest.raises(ConfigError, match="choose llm=hf"):
        record(tree)
