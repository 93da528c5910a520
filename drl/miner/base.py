"""A miner: from the tree of one rollout to rows that a model can learn from, without model calls.

What it sees is a `Harvest`: the tree, written as the agent that is to learn would have written it.
What concerns all trees of a source together (equal rows, contradicting labels, counts) happens in
`drl.mining`.

To add one, write `drl/miner/<name>.py` with a final `Miner` and `conf/miner/<name>.yaml`.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
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

    @property
    def order(self) -> tuple[str, str, int, tuple[int, ...], int]:
        """Where it stands among all, in whatever order they are read."""
        return (
            self.run,
            self.task_id,
            self.trial,
            self.nodes,
            -1 if self.step is None else self.step,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SFTRow:
    """A dialogue; `trained` are the positions of the agent's messages that are learned."""

    messages: tuple[Message, ...]
    trained: tuple[int, ...]
    tools: tuple[ToolSpec, ...] = ()
    origin: Origin

    def digest(self) -> bytes:
        """What makes it the same as another: what is learned, not where it comes from."""
        return _digest(self.messages, self.tools, self.trained)

    def contrary(self) -> bytes | None:
        """The digest of the row that says the opposite, where this one gives way to it."""
        return None

    @property
    def num_characters(self) -> int:
        """How long it is, whatever the tokens."""
        return _length(self.messages)


@dataclass(frozen=True, slots=True, kw_only=True)
class KTORow:
    """One output of the agent after its exact prompt, good or bad."""

    prompt: tuple[Message, ...]
    completion: Message
    label: bool
    tools: tuple[ToolSpec, ...] = ()
    origin: Origin

    def digest(self) -> bytes:
        """What makes it the same as another: what is learned, not where it comes from."""
        return _digest((*self.prompt, self.completion), self.tools, self.label)

    def contrary(self) -> bytes | None:
        """The digest of the row that says the opposite: what is good somewhere is nowhere bad."""
        return None if self.label else _digest((*self.prompt, self.completion), self.tools, True)

    @property
    def num_characters(self) -> int:
        """How long it is, whatever the tokens."""
        return _length((*self.prompt, self.completion))


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

    def digest(self) -> bytes:
        """What makes it the same as another: the outputs, not their weight and origin."""
        return _digest((*self.prompt, self.chosen, self.rejected), self.tools)

    def contrary(self) -> bytes | None:
        """The digest of the row that says the opposite: neither of the two is right."""
        return _digest((*self.prompt, self.rejected, self.chosen), self.tools)

    @property
    def num_characters(self) -> int:
        """How long it is, whatever the tokens; the longer half counts."""
        longer = max(self.chosen.num_characters, self.rejected.num_characters)
        return _length(self.prompt) + longer


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

    needs_chances: bool = False
    """Whether it goes by what `drl resample` found out."""

    @abstractmethod
    def mine(self, harvest: Harvest, form: Form) -> Iterator[Row]:
        """The rows of one tree; equal harvests give equal rows in equal order.

        Raises:
            DataError: the tree lacks what this miner goes by (chances, for one).
        """


def _length(messages: Sequence[Message]) -> int:
    return sum(message.num_characters for message in messages)


def _digest(messages: Sequence[Message], tools: Sequence[ToolSpec], *more: object) -> bytes:
    chat = [message.plain() for message in messages]
    text = json.dumps([chat, [tool.to_openai() for tool in tools], *more], sort_keys=True)
    return blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()
