"""Sources of hand-made trees, and miners that give the rows they are told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from scripted import CountingWorld, task_of

from drl.agent.base import Agent
from drl.llm.base import Message
from drl.miner.base import Form, Harvest, KTORow, Miner, Origin, Row, SFTRow
from drl.mining.source import Source
from drl.runtime.compose import compose
from drl.runtime.config import build, to_plain
from drl.tree.dialogue_tree import DialogueTree
from drl.types import Role, StopReason, Turn

CONF = Path(__file__).parents[2] / "conf"


def agent_of(option: str) -> Agent:
    """An option of conf/agent."""
    agent = build("agent", to_plain(compose(CONF, [f"agent={option}"]))["agent"])
    assert isinstance(agent, Agent)
    return agent


def tree_of(
    task_id: str, score: float | None = 1.0, stop: StopReason | None = None
) -> DialogueTree:
    """A tree of one turn."""
    tree = DialogueTree(task_id, 0, 1)
    leaf = tree.add(None, Turn(Role.AGENT, "hello"), ())
    leaf.stop, leaf.score = stop or StopReason.GOALS_REACHED, score
    return tree


def source_of(*trees: DialogueTree, agent: Agent, tasks: Sequence[str] = ("a", "b", "c")) -> Source:
    """A source of these trees; its tasks are of split test."""
    return Source(
        name="run/1",
        place="outputs/run/1",
        agent=agent,
        data_version="1",
        mode="faithful",
        simulator="none",
        llm="none",
        command="none",
        tasks={task: task_of("goal_0", id=task) for task in tasks},
        environment=CountingWorld(),
        read=lambda: iter(trees),
        known_chances={},
    )


def message(text: str) -> Message:
    return Message("assistant", text)


def labelled(prompt: str, text: str, *, label: bool, task: str = "a") -> KTORow:
    origin = Origin(run="run/1", task_id=task, trial=0, nodes=(0,), step=0)
    asked = (Message("user", prompt),)
    return KTORow(prompt=asked, completion=message(text), label=label, origin=origin)


class ListedMiner(Miner):
    """Gives the rows that are listed for a task, and a dialogue for each tree that has some."""

    forms = ("sft", "kto")

    def __init__(self, rows: Mapping[str, Iterable[Row]]) -> None:
        self._rows = rows

    def mine(self, harvest: Harvest, form: Form) -> Iterator[Row]:
        task = harvest.tree.task_id
        rows = self._rows.get(task, ())
        if form == "kto":
            yield from rows
        elif rows:
            origin = Origin(run=harvest.run, task_id=task, trial=0, nodes=(0,))
            yield SFTRow(messages=(message(task),), trained=(0,), origin=origin)
