"""A miner: from the tree of one rollout to rows that a model can learn from, without model calls.

What it sees is a `Harvest`: the tree, written as the agent that is to learn would have written it.
What concerns all trees of a source together (equal rows, contradicting labels, counts) happens in
`drl.mining`.

To add one, write `drl/miner/<name>.py` with a final `Miner` and `conf/miner/<name>.yaml`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from drl.agent.base import Agent
from drl.llm.base import Message
from drl.tree.chance import Chance
from drl.tree.dialogue_tree import DialogueTree
from drl.types import RewardEvent, Toolbox, ToolSpec

Form = Literal["sft", "dpo", "kto"]
"""What a row is for: whole dialogues, pairs of steps, labelled steps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a row comes from: a run, a tree of it, and the turns that hold the trained outputs.

    `step` counts the outputs of the turn `nodes[-1]`; None for a whole dialogue. `events` are the
    rewards of those turns.
    """

    run: str
    task_id: str
    trial: int
    nodes: tuple[int, ...]
    step: int | None = None
    events: tuple[RewardEvent, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SFTRow:
    """A dialogue; `trained` are the positions of the agent's messages that are learned."""

    messages: tuple[Message, ...]
    trained: tuple[int, ...]
    tools: tuple[ToolSpec, ...] = ()
    origin: Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class KTORow:
    """One output of the agent after its exact prompt, good or bad."""

    prompt: tuple[Message, ...]
    completion: Message
    label: bool
    tools: tuple[ToolSpec, ...] = ()
    origin: Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class DPORow:
    """Two outputs of the agent after one prompt; `weight` multiplies the loss of the pair."""

    prompt: tuple[Message, ...]
    chosen: Message
    rejected: Message
    weight: float = 1.0
    tools: tuple[ToolSpec, ...] = ()
    origin: Origin
    rejected_origin: Origin


Row: TypeAlias = SFTRow | KTORow | DPORow


@dataclass(frozen=True, slots=True, kw_only=True)
class Harvest:
    """One tree, with all that is needed to write its turns as prompts and outputs of `agent`.

    `chances` maps nodes to what `drl resample` found out about them; empty where nobody asked.
    """

    run: str
    tree: DialogueTree
    toolbox: Toolbox
    agent: Agent
    chances: Mapping[int, Chance] = field(default_factory=dict)


class Miner(ABC):
    """Chooses what of a tree is worth learning."""

    forms: tuple[Form, ...]
    """The forms of rows that it can give."""

    @abstractmethod
    def mine(self, harvest: Harvest, form: Form) -> Iterator[Row]:
        """The rows of one tree; equal harvests give equal rows in equal order.

        Raises:
            DataError: the tree lacks what this miner goes by (chances, for one).
        """
