"""ToolWOZ: eight tools over hotels, attractions, trains and restaurants of Cambridge.

`faithful` is josh-train 0.1.4 to the letter, so that rewards compare with published ones; `fixed`
repairs its bugs (`drl.domains.toolwoz.desk` says how).
"""

import hashlib
import json
from collections.abc import Mapping, Sequence

from drl.domains.toolwoz.desk import INVALID, Desk, InvalidCall
from drl.domains.toolwoz.matching import arguments_of, reaches
from drl.domains.toolwoz.winnable import cause
from drl.domains.toolwoz.world import Scene
from drl.environment.base import Environment, Mode, Session
from drl.errors import ConfigError
from drl.types import Goal, Task, Toolbox, ToolCall, ToolResult

Booking = tuple[str, str]
"""A tool, and what it returned as JSON."""


class ToolWOZSession(Session):
    """The bookings made so far in one dialogue; the databases never change."""

    def __init__(self, toolbox: Toolbox, desk: Desk, bookings: frozenset[Booking]) -> None:
        self._toolbox = toolbox
        self._desk = desk
        self._bookings = bookings

    @property
    def toolbox(self) -> Toolbox:
        """The eight tools; one object for all sessions."""
        return self._toolbox

    async def call(self, call: ToolCall) -> ToolResult:
        """A list of at most one entity for a search, success and reference for a booking.

        A call that cannot be carried out gives a text that begins with "ERROR: INVALID API CALL!".
        """
        try:
            if not isinstance(call.arguments, Mapping):
                raise InvalidCall("arguments must be an object of names and values")
            action, domain = self._desk.check(call.name, call.arguments)
            if action == "search":
                return ToolResult(self._desk.search(domain, call.arguments))
        except InvalidCall as invalid:
            return ToolResult(f"{INVALID} {invalid}", error=str(invalid))
        answer = self._desk.book(domain, call.arguments)
        if answer["success"]:
            booking = (call.name, json.dumps(answer["return"], sort_keys=True))
            self._bookings = self._bookings | {booking}
        return ToolResult(answer)

    def fork(self) -> "ToolWOZSession":
        """A session with the same bookings; they are never changed in place."""
        return ToolWOZSession(self._toolbox, self._desk, self._bookings)

    def digest(self) -> str:
        """A hash of the bookings, in whatever order they were made."""
        return hashlib.sha256(json.dumps(sorted(self._bookings)).encode()).hexdigest()


class ToolWOZEnvironment(Environment):
    """Serves dialogues of the ToolWOZ data set, as published or repaired."""

    def __init__(self, *, mode: Mode) -> None:
        if mode not in ("faithful", "fixed"):
            raise ConfigError(f"environment.mode={mode} is unknown; use faithful or fixed")
        self._mode: Mode = mode

    @property
    def mode(self) -> Mode:
        """Whether josh-train's behaviour is kept, bugs included, or repaired."""
        return self._mode

    @property
    def version(self) -> str:
        """Nothing in it is users' own."""
        return ""

    def open(self, task: Task) -> ToolWOZSession:
        """A session without bookings.

        Raises:
            ConfigError: the task is not from a ToolWOZ data set.
        """
        scene = _scene(task)
        return ToolWOZSession(scene.world.toolbox, scene.desk(self.mode), frozenset())

    def achieves(
        self, goal: Goal, call: ToolCall, result: ToolResult, open_goals: Sequence[Goal]
    ) -> bool:
        """Whether the call reaches the goal.

        While the booking of a domain is open, its search must return the booked entity.
        In `faithful` a booking counts whatever it returned.
        """
        if not isinstance(call.arguments, Mapping):
            return False
        return reaches(goal, call, result.value, open_goals, self.mode)

    def exact_call(self, goal: Goal) -> ToolCall:
        """The call that states the goal and nothing else; in `fixed` with the right entity."""
        return ToolCall(goal.kind, arguments_of(goal, self.mode))

    def explain(self, task: Task, goal: Goal, result: ToolResult) -> str:
        """Which contradiction of the data, or which bug, keeps the goal out of reach."""
        return cause(_scene(task), goal, self.mode)


def _scene(task: Task) -> Scene:
    if not isinstance(task.world, Scene):
        raise ConfigError(
            f"environment=toolwoz cannot open task {task.id}, which is not from ToolWOZ; "
            "use dataset=toolwoz or the environment of this data set"
        )
    return task.world
