"""tau-bench: the desk of a shop (16 tools) or of an airline (14) over databases that tools change.

`faithful` does what tau-bench does, bugs included, so that rewards compare with published ones;
`fixed` repairs the tools that `drl.domains.tau.repairs` names.
Source: Yao et al. 2024 (arXiv:2406.12045); goals as in the JOSH paper (arXiv:2409.04617).
"""

from collections.abc import Mapping, Sequence

from drl.domains.tau.tables import Tables
from drl.domains.tau.tools import TRANSFER, Tool, carry_out, is_error, tools_of
from drl.domains.tau.world import Scene
from drl.environment._refusals import cause_of
from drl.environment.base import Environment, Mode, Session
from drl.errors import ConfigError
from drl.types import Goal, Task, Toolbox, ToolCall, ToolResult


class TauSession(Session):
    """The databases as one branch of a dialogue left them."""

    def __init__(self, toolbox: Toolbox, tools: Mapping[str, Tool], tables: Tables) -> None:
        self._toolbox = toolbox
        self._tools = tools
        self._tables = tables

    @property
    def toolbox(self) -> Toolbox:
        """The tools of the domain, with its policy; one object for all sessions."""
        return self._toolbox

    async def call(self, call: ToolCall) -> ToolResult:
        """The text that a tool returned, which begins with "Error: " where it refused.

        A transfer to a human ends the dialogue, even if its arguments were wrong.
        """
        text = carry_out(self._tools, self._tables, call.name, call.arguments)
        error = text if is_error(text) else None
        return ToolResult(text, error=error, ends=call.name == TRANSFER)

    def fork(self) -> "TauSession":
        """A session that shares all records that neither changes."""
        return TauSession(self._toolbox, self._tools, self._tables.fork())

    def digest(self) -> str:
        """The hash by which tau-bench compares databases."""
        return self._tables.digest()


class TauEnvironment(Environment):
    """Serves dialogues of tau-bench, as published or repaired."""

    def __init__(self, *, mode: Mode) -> None:
        if mode not in ("faithful", "fixed"):
            raise ConfigError(f"environment.mode={mode} is unknown; use faithful or fixed")
        self._mode: Mode = mode

    @property
    def mode(self) -> Mode:
        """Whether tau-bench's tools are kept, bugs included, or repaired."""
        return self._mode

    @property
    def version(self) -> str:
        """Nothing in it is users' own."""
        return ""

    def open(self, task: Task) -> TauSession:
        """A session with untouched databases.

        Raises:
            ConfigError: the task is not from tau-bench.
        """
        if not isinstance(task.world, Scene):
            raise ConfigError(
                f"environment=tau cannot open task {task.id}, which is not from tau-bench; "
                "use dataset=tau_bench or the environment of this data set"
            )
        world = task.world.world
        return TauSession(world.toolbox, tools_of(world.domain, self.mode), world.tables.fork())

    def achieves(
        self, goal: Goal, call: ToolCall, result: ToolResult, open_goals: Sequence[Goal]
    ) -> bool:
        """Whether the call is the gold action, its arguments equal as Python values; in any order.

        In `faithful` it counts whatever it returned; in `fixed` a call that was refused does not.
        """
        if self.mode == "fixed" and result.error is not None:
            return False
        return call.name == goal.kind and call.arguments == goal.arguments

    def exact_call(self, goal: Goal) -> ToolCall:
        """The gold action."""
        return ToolCall(goal.kind, goal.arguments)

    def explain(self, task: Task, goal: Goal, result: ToolResult) -> str:
        """What the tool said against the gold action, with … for ids, dates and amounts."""
        return cause_of(goal, result)
