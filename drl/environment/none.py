"""No tools: for dialogues and texts that are about nothing but words."""

from collections.abc import Sequence
from dataclasses import dataclass

from drl.environment.base import Environment, Mode, Session
from drl.errors import ConfigError
from drl.types import Goal, Task, Toolbox, ToolCall, ToolResult

_TOOLBOX = Toolbox(())


class NoneSession(Session):
    """Offers nothing and holds no state, so one serves all branches."""

    @property
    def toolbox(self) -> Toolbox:
        """Empty."""
        return _TOOLBOX

    async def call(self, call: ToolCall) -> ToolResult:
        """An error: there is nothing to call."""
        said = f"there is no tool {call.name!r:.80}, nor any other"
        return ToolResult(f"ERROR: {said}", error=said)

    def fork(self) -> "NoneSession":
        """Itself."""
        return self

    def digest(self) -> str:
        """Always the same."""
        return ""


@dataclass(kw_only=True)
class NoneEnvironment(Environment):
    """Opens any task that has no goals, since goals are reached by calling tools."""

    @property
    def mode(self) -> Mode:
        """There is nothing to repair."""
        return "faithful"

    @property
    def version(self) -> str:
        """Empty: users bring nothing into it."""
        return ""

    def open(self, task: Task) -> NoneSession:
        """A session.

        Raises:
            ConfigError: the task has goals.
        """
        if task.goals:
            raise ConfigError(
                f"environment=none has no tools to reach the goals of task {task.id} with; use "
                "dataset=prompts, or the environment of this data set"
            )
        return NoneSession()

    def achieves(
        self, goal: Goal, call: ToolCall, result: ToolResult, open_goals: Sequence[Goal]
    ) -> bool:
        """Never: nothing can be called."""
        return False

    def exact_call(self, goal: Goal) -> ToolCall:
        """The call that the goal names, which is no tool's."""
        return ToolCall(goal.kind, goal.arguments)

    def explain(self, task: Task, goal: Goal, result: ToolResult) -> str:
        """Why no call reaches a goal."""
        return "there are no tools"
