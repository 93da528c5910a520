"""tau2-bench: the domains of a package tau2 that users install, through its own environments.

Both sides have tools: the agent those of a desk, the customer in some domains those of a phone,
say. tau2 keeps the two in step after each call. A transfer to a human does not end a dialogue:
the agent has to say so, and the customer leaves.

What a fork costs: nothing. The first call that writes after it, on either side of the fork, copies
the databases (`drl.domains.tau2.state`): 1 ms in telecom, 70 ms in retail, 300 ms in airline.
Source: Barres et al. 2025 (arXiv:2506.07982).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from drl.domains.tau2.interface import Requestor
from drl.domains.tau2.state import Branch
from drl.domains.tau2.world import Scene
from drl.environment._refusals import cause_of
from drl.environment.base import Environment, Mode, Session
from drl.errors import ConfigError
from drl.types import Goal, Task, Toolbox, ToolCall, ToolResult

_COMPARED = "compare_args"


class Tau2Session(Session):
    """tau2's databases as one branch of a dialogue left them."""

    def __init__(self, scene: Scene, branch: Branch) -> None:
        self._scene = scene
        self._branch = branch

    @property
    def toolbox(self) -> Toolbox:
        """The agent's tools and policy; one object for all sessions of a domain."""
        return self._scene.world.toolbox

    @property
    def user_toolbox(self) -> Toolbox | None:
        """The customer's tools, where the domain and the task give it some."""
        return self._scene.user_toolbox

    async def call(self, call: ToolCall) -> ToolResult:
        """The text that tau2 gives, which begins with "Error: " where it refused."""
        return self._respond(call, "assistant")

    async def call_by_user(self, call: ToolCall) -> ToolResult:
        """The same for the customer."""
        return self._respond(call, "user")

    def fork(self) -> "Tau2Session":
        """A session that shares everything until one of the two writes."""
        return Tau2Session(self._scene, self._branch.fork())

    def digest(self) -> str:
        """tau2's hashes of the agent's and of the customer's database."""
        return self._branch.digest()

    def _respond(self, call: ToolCall, requestor: Requestor) -> ToolResult:
        try:
            asked = self._scene.world.call(call, requestor)
        except ValueError:
            said = f"Error: {call.name!r:.80} is called with what is no object of arguments"
            return ToolResult(said, error=said)
        message = self._branch.respond(asked)
        return ToolResult(message.content, error=message.content if message.error else None)


@dataclass(kw_only=True)
class Tau2Environment(Environment):
    """Serves dialogues of tau2-bench; the package comes with the tasks."""

    @property
    def mode(self) -> Mode:
        """tau2's tools are taken as they are."""
        return "faithful"

    @property
    def version(self) -> str:
        """Empty: the version of the package is that of the tasks."""
        return ""

    def open(self, task: Task) -> Tau2Session:
        """A session in the state that the task begins with.

        Raises:
            ConfigError: the task is not from tau2-bench.
            DataError: tau2 cannot bring that state about.
        """
        if not isinstance(task.world, Scene):
            raise ConfigError(
                f"environment=tau2 cannot open task {task.id}, which is not from tau2-bench; "
                "use dataset=tau2 or the environment of this data set"
            )
        return Tau2Session(task.world, task.world.begin())

    def achieves(
        self, goal: Goal, call: ToolCall, result: ToolResult, open_goals: Sequence[Goal]
    ) -> bool:
        """Whether the call was carried out and is the action.

        The arguments that tau2 compares must be equal, which are all unless the task names some.
        tau2's own comparison lets a call that leaves arguments out count too; that is for grades.
        """
        if result.error is not None or call.name != goal.kind:
            return False
        compared = goal.details.get(_COMPARED)
        if not isinstance(compared, Sequence):
            return call.arguments == goal.arguments
        names = [str(name) for name in compared]
        return all(call.arguments.get(name) == goal.arguments.get(name) for name in names)

    def exact_call(self, goal: Goal) -> ToolCall:
        """The action."""
        return ToolCall(goal.kind, goal.arguments)

    def explain(self, task: Task, goal: Goal, result: ToolResult) -> str:
        """What the tool said against the action, with … for ids, dates and amounts."""
        return cause_of(goal, result)
