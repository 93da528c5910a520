"""An environment: tools, the state behind them, and what counts as reaching a goal with them.

To add one, write `drl/environment/<name>.py` with one `Environment` and one `Session`, and
`conf/environment/<name>.yaml` with its settings. `tests/contracts/test_environment.py` then tests
it without further work.
A setting without a default (`???`) gets one for tests in `tests/required.py`.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Literal

from drl.types import Goal, Task, Toolbox, ToolCall, ToolResult

Mode = Literal["faithful", "fixed"]


class Session(ABC):
    """The state of one environment along one branch of a dialogue."""

    @property
    @abstractmethod
    def toolbox(self) -> Toolbox:
        """The tools on offer; one object for all sessions of an environment where it can be."""

    @property
    def user_toolbox(self) -> Toolbox | None:
        """The tools that the customer has, such as a phone to look at; None where it only talks."""
        return None

    @abstractmethod
    async def call(self, call: ToolCall) -> ToolResult:
        """Carry out one call. Bad calls give a `ToolResult` with an error, never an exception."""

    async def call_by_user(self, call: ToolCall) -> ToolResult:
        """Carry out one call of the customer; asked only where there is a `user_toolbox`."""
        return ToolResult(None, error=f"the customer has no tool {call.name}")

    @abstractmethod
    def fork(self) -> "Session":
        """A session that goes on from here, in O(1); neither sees what the other does next."""

    @abstractmethod
    def digest(self) -> str:
        """A hash of the state; equal states give equal hashes, whatever way led there."""


class Environment(ABC):
    """Opens sessions and judges which calls reach which goals."""

    @property
    @abstractmethod
    def mode(self) -> Mode:
        """Whether published behaviour is kept, bugs included, or the bugs are repaired."""

    @property
    @abstractmethod
    def version(self) -> str:
        """The version of what users brought into it, such as a file of tools; else empty.

        Results of two versions never mix in one run.
        """

    @abstractmethod
    def open(self, task: Task) -> Session:
        """A fresh session for a task; every task of a run is opened once before it starts.

        Raises:
            ConfigError: the task comes from a dataset that this environment does not know.
            DataError: the task is not possible in this environment.
        """

    @abstractmethod
    def achieves(
        self, goal: Goal, call: ToolCall, result: ToolResult, open_goals: Sequence[Goal]
    ) -> bool:
        """Whether this call, with what it returned, reaches `goal` while `open_goals` are open."""

    @abstractmethod
    def exact_call(self, goal: Goal) -> ToolCall:
        """The call that states `goal` and nothing else; `trainer=validate` replays it."""

    @abstractmethod
    def explain(self, task: Task, goal: Goal, result: ToolResult) -> str:
        """Why the exact call of `goal`, which gave `result`, does not reach it.

        Causes are counted, so no values of the data in it, but for what a tool of users' says.
        """
