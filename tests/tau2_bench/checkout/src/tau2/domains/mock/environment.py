"""A counter that keeps parcels."""

import json
from typing import Literal

from pydantic import BaseModel

from tau2.data_model.tasks import Task
from tau2.environment.environment import Environment
from tau2.environment.toolkit import Toolkit, ToolType, is_tool
from tau2.utils.utils import read


class Parcel(BaseModel):
    owner: str
    state: Literal["waiting", "handed out", "sent back"] = "waiting"


class Counter(BaseModel):
    parcels: dict[str, Parcel]


class CounterTools(Toolkit):
    db: Counter

    def _parcel(self, number: str) -> Parcel:
        if not isinstance(number, str) or number not in self.db.parcels:
            raise ValueError(f"Parcel {number} not found")
        return self.db.parcels[number]

    @is_tool(ToolType.READ)
    def find_parcel(self, number: str) -> Parcel:
        """Looks a parcel up by its number."""
        return self._parcel(number)

    @is_tool(ToolType.WRITE)
    def hand_out(self, number: str, note: str = "") -> str:
        """Hands a waiting parcel to its owner."""
        parcel = self._parcel(number)
        if parcel.state != "waiting":
            raise ValueError(f"Parcel {number} is {parcel.state}")
        parcel.state = "handed out"
        return f"Parcel {number} handed out to {parcel.owner}"

    @is_tool(ToolType.WRITE)
    def accept(self, owner: str) -> str:
        """Takes in a parcel for somebody, under a new number."""
        if not isinstance(owner, str) or not owner:
            raise ValueError("An owner is needed")
        number = f"P{len(self.db.parcels) + 1}"
        self.db.parcels[number] = Parcel(owner=owner)
        return number

    @is_tool(ToolType.GENERIC)
    def transfer_to_human_agents(self, summary: str) -> str:
        """Hands the customer over to a person."""
        return "Transfer successful"

    def assert_state(self, number: str, state: str) -> bool:
        return self._parcel(number).state == state


def get_environment() -> Environment:
    counter = Counter.model_validate_json(read("mock", "db.json"))
    return Environment(read("mock", "policy.md"), CounterTools(counter))


def get_tasks(task_split_name: str | None = None) -> list[Task]:
    tasks = [Task.model_validate(task) for task in json.loads(read("mock", "tasks.json"))]
    if task_split_name is None:
        return tasks
    return [task for task in tasks if task.id in get_tasks_split()[task_split_name]]


def get_tasks_split() -> dict[str, list[str]]:
    return json.loads(read("mock", "split_tasks.json"))
