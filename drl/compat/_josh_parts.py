"""What a JOSH rollout is made of: agents, users, goals and the nodes of the tree.

The names and the behaviour are those of josh-train; `drl.compat.josh` says what differs.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from drl.types import JSON

Message: TypeAlias = dict[str, JSON]

Example: TypeAlias = tuple[list[Message], bool, bool]
"""Messages up to an agent's last word, whether the branch earned a reward, whether it was kept."""


def trim_user_msg(messages: list[Message]) -> list[Message]:
    """The messages without the user's at the end; empty if all of them are the user's."""
    end = len(messages)
    while end and messages[end - 1].get("role") == "user":
        end -= 1
    return messages[:end]


class BaseJOSHAgent:
    """An agent and its dialogue; JOSH deep-copies it wherever the tree branches.

    `messages` is public, `messages_internal` holds all that the model sees and emits.
    `recent_actions` are the actions of the last step. JOSH sets it to an empty list before
    each step, so an agent that needs its older actions keeps a list of its own.
    """

    def __init__(self, messages: list[Message] | None = None) -> None:
        self.messages: list[Message] = copy.deepcopy(messages) if messages else []
        self.messages_internal: list[Message] = copy.deepcopy(messages) if messages else []
        self.recent_actions: list[object] = []

    def step(self, **kwargs: object) -> bool | None:
        """Act once and say whether the turn passes to the customer.

        Receives `model`, `tokenizer` and `env` from JOSH by way of `agent_step`.
        """
        self.add_message({"role": "assistant", "content": "hello!"})
        self.recent_actions = ["say hello"]
        return True

    def add_message(self, message: Message) -> None:
        """Append one message to the public and to the internal list."""
        self.messages.append(message)
        self.messages_internal.append(message)


class BaseJOSHUser:
    """A user. All branches share one instance, so it must derive its state from the agent."""

    def step(self, agent: BaseJOSHAgent, **kwargs: object) -> tuple[BaseJOSHAgent, bool]:
        """The agent with the user's next message, and whether the user hung up."""
        agent.add_message({"role": "user", "content": "hi there!"})
        return agent, False


class BaseRewards:
    """The goals that are still open; equal goals may stand in it several times."""

    def __init__(self, rewards: Iterable[object]) -> None:
        self.rewards: list[object] = list(rewards)

    def __len__(self) -> int:
        return len(self.rewards)

    def is_reward(self, agent_actions: Sequence[object]) -> tuple[bool, list[object]]:
        """Whether any action is an open goal, and the goals hit, each at most once."""
        open_goals = list(self.rewards)
        hit: list[object] = []
        for action in agent_actions:
            if action in open_goals:
                hit.append(open_goals.pop(open_goals.index(action)))
        return bool(hit), hit

    def delete_reward(self, rewards_to_delete: Iterable[object]) -> None:
        """Close each of these goals once; one that is not open any more is passed over."""
        for goal in rewards_to_delete:
            if goal in self.rewards:
                self.rewards.remove(goal)


class Node:
    """A dialogue in the tree. `left` and `right` are copies of it that went different ways.

    `failed` marks a leaf that a raised exception ended. Such a leaf says nothing about how good
    its turn was, so it never becomes a negative example.
    """

    def __init__(self, agent: BaseJOSHAgent, parent: Node | None = None) -> None:
        self.agent = agent
        self.parent = parent
        self.left: Node | None = None
        self.right: Node | None = None
        self.conversation_over = False
        self.is_successful = False
        self.is_golden_path = False
        self.failed = False

    def get_leaves(self) -> list[Node]:
        """The leaves below (or at) this node whose conversation goes on, left to right."""
        return [
            node
            for node in self._walk()
            if node.left is None and node.right is None and not node.conversation_over
        ]

    def get_tree(self) -> list[Example]:
        """One example a node, this one first, then all to its left, then all to its right."""
        return [
            (
                copy.deepcopy(trim_user_msg(node.agent.messages_internal)),
                node.is_successful,
                node.is_golden_path,
            )
            for node in self._walk()
            if node.is_successful or not node.failed
        ]

    def _walk(self) -> Iterable[Node]:
        """All nodes in pre-order; no recursion, a long rollout may be deeper than the stack."""
        waiting: list[Node] = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(child for child in (node.right, node.left) if child is not None)

    def path_to_root(self) -> Iterable[Node]:
        """This node, its parent and so on up to the root."""
        node: Node | None = self
        while node is not None:
            yield node
            node = node.parent
