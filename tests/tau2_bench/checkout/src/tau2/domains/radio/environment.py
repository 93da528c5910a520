"""A radio that does not play: the subscription is the station's, the radio is the subscriber's."""

import json

from pydantic import BaseModel

from tau2.data_model.tasks import Task
from tau2.environment.environment import Environment
from tau2.environment.toolkit import Toolkit, ToolType, is_tool
from tau2.utils.utils import read


class Station(BaseModel):
    active: bool = False
    unpaid: float = 0.0
    log: list[str] = []


class Radio(BaseModel):
    is_on: bool = False
    volume: int = 0
    signal: bool = False
    """Whether the station sends, as far as the radio can know: kept in step."""
    paid: bool = False


class StationTools(Toolkit):
    db: Station

    @is_tool(ToolType.READ)
    def look_up(self) -> Station:
        """Shows the subscription."""
        return self.db

    @is_tool(ToolType.WRITE)
    def activate(self, reason: str) -> str:
        """Turns the subscription on, once it is paid."""
        self.db.log.append(str(reason))
        if self.db.unpaid:
            raise ValueError("Subscription is unpaid")
        self.db.active = True
        return "Subscription is active"

    def bill(self, amount: float) -> None:
        self.db.unpaid = amount

    def assert_active(self) -> bool:
        return self.db.active

    def tool_mutates_state(self, tool_name: str) -> bool:
        return self.tool_type(tool_name) is ToolType.WRITE


class RadioTools(Toolkit):
    db: Radio

    @is_tool(ToolType.READ)
    def listen(self) -> str:
        """Tells what is to be heard."""
        return "music" if self._plays() else "nothing"

    @is_tool(ToolType.WRITE)
    def press_power(self) -> str:
        """Turns the radio on or off."""
        self.db.is_on = not self.db.is_on
        return f"The radio is {'on' if self.db.is_on else 'off'}"

    @is_tool(ToolType.WRITE)
    def set_volume(self, volume: int) -> str:
        """Turns the volume to a number from 0 to 10."""
        if not isinstance(volume, int) or not 0 <= volume <= 10:
            raise ValueError(f"Volume {volume} is not on the dial")
        self.db.volume = volume
        return f"The volume is {volume}"

    @is_tool(ToolType.WRITE)
    def pay(self) -> str:
        """Pays the open bill."""
        self.db.paid = True
        return "Paid"

    def _plays(self) -> bool:
        return self.db.is_on and self.db.volume > 0 and self.db.signal

    def assert_plays(self, loud: bool = False) -> bool:
        return self._plays() and (self.db.volume > 5 or not loud)


class RadioEnvironment(Environment):
    tools: StationTools
    user_tools: RadioTools

    def sync_tools(self) -> None:
        if self.user_tools.db.paid:
            self.tools.db.unpaid = 0.0
            self.user_tools.db.paid = False
        self.user_tools.db.signal = self.tools.db.active


def get_environment() -> RadioEnvironment:
    station, radio = StationTools(Station()), RadioTools(Radio())
    return RadioEnvironment(read("radio", "policy.md"), station, radio)


def get_tasks(task_split_name: str | None = None) -> list[Task]:
    tasks = [Task.model_validate(task) for task in json.loads(read("radio", "tasks.json"))]
    if task_split_name is None:
        return tasks
    return [task for task in tasks if task.id in get_tasks_split()[task_split_name]]


def get_tasks_split() -> dict[str, list[str]]:
    return json.loads(read("radio", "split_tasks.json"))
