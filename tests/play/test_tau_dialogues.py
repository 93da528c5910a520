"""Whole dialogues of tau-bench's agents and customers in a shop of two orders, without a key."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
import required
from mining.forest import source_of
from scripted import cast_of, josh
from tau import miniature

from drl.agent.base import Agent
from drl.domains.tau.world import Scene
from drl.environment.tau import TauEnvironment
from drl.llm.base import LLM, NoLLM
from drl.llm.scripted import ScriptedLLM
from drl.miner.josh_clean import JoshCleanMiner
from drl.mining.formats import to_openai
from drl.mining.mine import mine
from drl.play.cast import Cast
from drl.rollout.base import Rollout
from drl.rollout.single import SingleRollout
from drl.runtime.compose import compose
from drl.runtime.config import build, to_plain
from drl.tree.codec import from_line, to_line
from drl.tree.dialogue_tree import DialogueTree
from drl.types import JSON, Brief, Goal, Role, StopReason, Task, Toolbox, ToolSpec, Turn
from drl.user_simulator.base import UserSimulator

CONF = Path(__file__).parents[2] / "conf"
LOOK = {"order_id": "#W1"}
CANCEL = {"order_id": "#W1", "reason": "no longer needed"}
ASK = "Order #W1 is pending. Do you confirm that I cancel it (yes/no)?"
DONE = "Your order is cancelled."
POLICY = "Ask before you change anything."
TOOLBOX = Toolbox(
    tuple(
        ToolSpec(name, name, {"type": "object", "properties": {}})
        for name in ("get_order_details", "cancel_pending_order", "transfer_to_human_agents")
    ),
    {},
    POLICY,
)
SINGLE = SingleRollout(max_steps=6, max_calls=None, concurrency=1)


def shop_task(*goals: Goal) -> Task:
    task = miniature.task_of("retail", *goals)
    assert isinstance(task.world, Scene)
    world = replace(task.world.world, toolbox=TOOLBOX)
    brief = Brief(
        (
            "You are Ann Lee in 10115, and you want to cancel your order #W1, since you no longer "
            "need it. You are polite.",
        )
    )
    return replace(task, brief=brief, world=replace(task.world, world=world))


TASK = shop_task(Goal("cancel_pending_order", "retail", CANCEL))


@cache
def part(group: str, option: str, *overrides: str):
    config = compose(CONF, [*required.choice(group, option), *overrides])
    node = to_plain(config)[group]
    assert isinstance(node, Mapping)
    return build(group, node)


def scripted(replies: Sequence[str | Mapping[str, JSON]]) -> LLM:
    return ScriptedLLM(model="s", replies=replies, order="turn", latency_s=0.0, fault_rate=0.0)


def calls(name: str, arguments: Mapping[str, JSON]) -> Mapping[str, JSON]:
    return {"text": "", "calls": [{"name": name, "arguments": dict(arguments)}]}


def acts(thought: str = "") -> Iterator[str]:
    """The agent's part in the form of tau-bench."""
    for name, argument in (
        ("get_order_details", '{"order_id": "#W1"}'),
        ("respond", f'{{"content": "{ASK}"}}'),
        ("cancel_pending_order", '{"order_id": "#W1", "reason": "no longer needed"}'),
        ("respond", f'{{"content": "{DONE}"}}'),
    ):
        yield f'{thought}Action:\n{{"name": "{name}", "arguments": {argument}}}'


NATIVE = [calls("get_order_details", LOOK), ASK, calls("cancel_pending_order", CANCEL), DONE]
AGENTS: dict[str, Sequence[str | Mapping[str, JSON]]] = {
    "function_calling/tau": NATIVE,
    "function_calling/few_shot": NATIVE,
    "react/tau": list(acts("Thought:\nGo on.\n")),
    "react/act": list(acts()),
}
SAID = ("It is true that I want to cancel #W1.", "Yes.", "###STOP###")
USERS: dict[str, Sequence[str]] = {
    "facts": (),
    **dict.fromkeys(("llm", "verify", "reflection"), SAID),  # "true" is what a supervisor reads
    "react": [f"Thought:\nSecret.\n\nUser Response:\n{text}" for text in SAID],
}


def user_of(name: str) -> UserSimulator:
    if name == "facts":
        return part("user_simulator", "facts")
    return part("user_simulator", "tau", f"user_simulator.strategy={name}")


def cast(agent: str, user: str, task: Task = TASK, *overrides: str) -> Cast:
    bare = cast_of(part("agent", agent, *overrides), user_of(user))
    return replace(
        bare,
        environment=TauEnvironment(mode="faithful"),
        llm=scripted(AGENTS[agent]) if agent in AGENTS else NoLLM("llm"),
        user_llm=scripted(USERS[user]) if USERS[user] else NoLLM("user_llm"),
    )


def played(cast: Cast, task: Task = TASK, rollout: Rollout = SINGLE) -> DialogueTree:
    tree = asyncio.run(rollout.run(task, 0, cast))
    assert from_line(to_line(tree)) == tree
    return tree


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("agent", AGENTS)
def test_each_agent_serves_each_customer_to_the_end(agent, user):
    tree = played(cast(agent, user))
    (leaf,) = tree.leaves()
    assert (leaf.stop, leaf.score) == (StopReason.USER_ENDED, 1.0)
    turns = tree.dialogue(leaf.id)
    assert [turn.role for turn in turns] == [Role.USER, Role.AGENT] * 2 + [Role.USER]
    assert [turn.text for turn in turns[1::2]] == [ASK, DONE]
    assert turns[-1].text == "###STOP###"
    assert [done.call.name for turn in turns for done in turn.executed()] == [
        "get_order_details",
        "cancel_pending_order",
    ]
    assert not any("Secret" in (turn.text or "") for turn in turns)


def test_each_agent_is_told_the_policy_and_what_the_tools_gave():
    for agent in AGENTS:
        tree = played(cast(agent, "facts"))
        speaker = part("agent", agent)
        assert isinstance(speaker, Agent)
        messages = next(iter(rows(tree, speaker)))["messages"]
        assert messages[0]["content"].startswith(POLICY)
        texts = [message.get("content", "") for message in messages]
        gave = [text for text in texts if '"status": "pending"' in text]
        assert len(gave) == 1
        assert gave[0].startswith("API output: {" if agent.startswith("react") else "{")


def rows(tree: DialogueTree, agent: Agent, task: Task = TASK) -> Iterator[dict]:
    """The rows of a tree in OpenAI's format, as `drl export --format openai` writes them."""
    tree.mark_golden(next(leaf.id for leaf in tree.leaves()))
    tree.mark_successful()
    source = replace(
        source_of(tree, agent=agent),
        tasks={task.id: task},
        environment=TauEnvironment(mode="fixed"),
    )
    miner = JoshCleanMiner(
        full_success_only=False, max_per_node=None, max_per_tree=None, max_length_ratio=None
    )
    for row in mine(miner, [source], None, "sft"):
        yield to_openai(row)  # type: ignore[misc]


@pytest.mark.parametrize("agent", AGENTS)
def test_an_exported_row_carries_the_tools_where_its_form_wants_them(agent):
    (row,) = rows(played(cast(agent, "facts")), part("agent", agent))
    specs = [spec.to_openai() for spec in TOOLBOX.specs]
    if agent.startswith("function_calling"):
        assert row["tools"] == specs
    else:  # a column of tools would have the chat template list them a second time
        assert "tools" not in row
        assert '"name": "cancel_pending_order"' in row["messages"][0]["content"]
    assert row["messages"][-1]["role"] == "assistant"


def test_any_dialogue_can_be_written_in_any_of_the_forms():
    for player in AGENTS:
        tree = played(cast(player, "facts"))
        for writer in AGENTS:
            (row,) = rows(tree, part("agent", writer))
            roles = [message["role"] for message in row["messages"]]
            assert roles.count("assistant") == 4
            assert ("tool" in roles) == writer.startswith("function_calling")


def test_a_transfer_ends_the_dialogue_and_the_row_with_the_call():
    task = shop_task(Goal("transfer_to_human_agents", "retail", {"summary": "x"}))
    for agent, replies in (
        ("function_calling/tau", [calls("transfer_to_human_agents", {"summary": "x"})]),
        (
            "react/tau",
            ['Action:\n{"name": "transfer_to_human_agents", "arguments": {"summary": "x"}}'],
        ),
    ):
        tree = played(replace(cast(agent, "facts"), llm=scripted(replies)), task)
        (leaf,) = tree.leaves()
        assert (leaf.stop, leaf.score) == (StopReason.AGENT_ENDED, 1.0)
        (row,) = rows(tree, part("agent", agent), task)
        assert row["messages"][-1]["role"] == "assistant"
        assert "transfer_to_human_agents" in str(row["messages"][-1])


def test_the_oracle_serves_the_customer_that_goes_by_rules():
    tree = played(cast("oracle", "facts"))
    (leaf,) = tree.leaves()
    assert (leaf.stop, leaf.score) == (StopReason.USER_ENDED, 1.0)
    assert [turn.text for turn in tree.dialogue(leaf.id)][1:] == [
        "I have taken care of that.",
        "###STOP###",
    ]


def test_a_search_finds_what_the_erring_oracle_misses_alone():
    goals = [Goal("get_order_details", "retail", {"order_id": number}) for number in ("#W1", "#W2")]
    task = shop_task(*goals, Goal("cancel_pending_order", "retail", CANCEL))
    (alone,) = played(cast("oracle/erring", "facts"), task).leaves()
    assert alone.score is not None
    assert alone.score < 1
    tree = played(cast("oracle/erring", "facts"), task, josh(beam_size=4, max_steps=6))
    assert StopReason.GOALS_REACHED in {leaf.stop for leaf in tree.leaves()}


def test_the_customer_hears_only_what_is_said():
    tree = played(cast("react/tau", "react"))
    for turn in tree.dialogue(next(iter(tree.leaves())).id):
        assert turn.public() == Turn(turn.role, turn.text, hangs_up=turn.hangs_up)
        assert "Thought" not in (turn.text or "")
