"""Which calls reach the goals of users' own tasks: an expected call, or a check that holds."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from drl.domains.own.world import CHECK, Check, OwnWorld
from drl.environment._running import CallFailedError, run, run_blocking
from drl.environment._tools import BadCallError, CompareTexts, Toolset
from drl.errors import ConfigError, DataError
from drl.types import JSON, Goal, Task, ToolCall, ToolResult


class CheckError(RuntimeError):
    """A check that raised, hung, or said neither yes nor no; the dialogue broke, nobody failed."""


class Done(NamedTuple):
    """A call that was carried out, and what it gave."""

    call: ToolCall
    value: JSON


def own_world(task: Task, environment: str) -> OwnWorld:
    """What a task of users' own brings along.

    Raises:
        ConfigError: the task is of another data set.
    """
    if not isinstance(task.world, OwnWorld):
        raise ConfigError(
            f"environment={environment} cannot open task {task.id}, which is not of your own; "
            "use dataset=jsonl_tasks or the environment of this data set"
        )
    return task.world


@dataclass(frozen=True, slots=True)
class OwnGoals:
    """Judges calls; `has_state` says whether checks may ask for the state."""

    toolset: Toolset
    compare_texts: CompareTexts
    timeout_s: float
    has_state: bool

    def refuse_impossible(self, task: Task, world: OwnWorld, state: object) -> None:
        """Refuse goals that no call could reach, and checks that hold before any call.

        Raises:
            DataError: with the line of the task, the goal and what is wrong with it.
        """
        for position, goal in enumerate(task.goals):
            try:
                if CHECK not in goal.details or goal.kind != CHECK:
                    self.toolset.read(self.exact_call(goal))
                if CHECK in goal.details:
                    self._try(world.checks[str(goal.details[CHECK])], state)
            except (BadCallError, CheckError) as error:
                raise DataError(f"{world.where}: goals.{position}: {error}") from error

    def achieves(self, goal: Goal, call: ToolCall, result: ToolResult) -> bool:
        """Whether the goal's check held after the call, or the call was carried out and is it."""
        if CHECK in goal.details:
            return goal.details[CHECK] in result.fulfilled
        expected = self.exact_call(goal)
        return result.error is None and self.toolset.is_same(expected, call, self.compare_texts)

    def exact_call(self, goal: Goal) -> ToolCall:
        """The expected call, or the example of a check; of a check without one, no tool's call."""
        return ToolCall(goal.kind, goal.arguments)

    def explain(self, goal: Goal, result: ToolResult) -> str:
        """Why the goal is not reached; with the tool's own words where it refused."""
        if goal.kind == CHECK and CHECK in goal.details:
            return f"{goal.details[CHECK]} names no example, so there is nothing to replay"
        if result.error is not None:
            return f"the call is not carried out: {result.error}"
        if CHECK in goal.details:
            return f"{goal.details[CHECK]} does not hold after its example"
        return "the call is carried out, yet is not the expected one"

    async def fulfilled(
        self, world: OwnWorld, state: object, done: Sequence[Done], *, wrote: bool
    ) -> tuple[str, ...]:
        """The checks that hold after the last of the calls.

        A check of the state alone is only asked when that call `wrote`: else nothing is new.

        Raises:
            CheckError: one did not say whether.
        """
        held: list[str] = []
        for check in world.checks.values():
            if not wrote and "calls" not in check.sees:
                continue
            try:
                said = await run(_question(check, state, done), self.timeout_s)
            except CallFailedError as error:
                raise CheckError(f"check {check.reference}: {error.where}") from error
            if _holds(check, said):
                held.append(check.reference)
        return tuple(held)

    def _try(self, check: Check, state: object) -> None:
        """Ask a check before anything is called.

        Raises:
            CheckError: it cannot be asked, or holds already.
        """
        if "state" in check.sees and not self.has_state:
            raise CheckError(
                f"check {check.reference} asks for the state, which this environment does not "
                "see; let it take `calls`"
            )
        try:
            said = run_blocking(_question(check, state, ()), self.timeout_s)
        except CallFailedError as error:
            raise CheckError(f"check {check.reference}, before any call: {error.where}") from error
        if _holds(check, said):
            raise CheckError(
                f"check {check.reference} holds before any call, so it says nothing; mend the "
                "check or the state"
            )


def _question(check: Check, state: object, done: Sequence[Done]) -> partial[object]:
    """The check, to be run on copies: what it changes is nobody's."""
    given: dict[str, object] = {}
    if "state" in check.sees:
        given["state"] = deepcopy(state)
    if "calls" in check.sees:
        given["calls"] = [
            {
                "name": call.name,
                "arguments": deepcopy(dict(call.arguments)),
                "value": deepcopy(value),
            }
            for call, value in done
        ]
    return partial(check.function, **given)


def _holds(check: Check, said: object) -> bool:
    if isinstance(said, bool):
        return said
    if isinstance(said, int | float) and 0 <= said <= 1:
        return said == 1
    raise CheckError(
        f"check {check.reference} said {said!r:.80}; it must say True, False or a number in [0, 1]"
    )


def refusal(error: Exception) -> ToolResult:
    """What an agent is told of a call that was not carried out; nothing has changed."""
    return ToolResult(f"ERROR: {error}", error=str(error))
