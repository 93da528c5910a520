"""A town of a few places, and a way to talk to an agent in it."""

import asyncio
from dataclasses import dataclass, field, replace

from drl.agent.base import Agent, Situation
from drl.llm.base import NoLLM
from drl.types import Role, Step, Toolbox, ToolCall, ToolResult, ToolSpec, Turn

ROWS: dict[str, list[dict]] = {
    "hotel": [
        {
            **{"name": "worth house", "area": "north", "pricerange": "cheap", "type": "guesthouse"},
            **{"stars": "4", "internet": "yes", "parking": "yes", "phone": "01223316074"},
            **{"postcode": "cb41da", "address": "152 chesterton road"},
        },
        {
            **{"name": "gonville hotel", "area": "centre", "pricerange": "expensive"},
            **{"type": "hotel", "stars": "3", "internet": "yes", "parking": "no", "phone": None},
        },
    ],
    "restaurant": [
        {"name": "curry garden", "area": "centre", "pricerange": "expensive", "food": "indian"},
        {"name": "rice house", "area": "centre", "pricerange": "cheap", "food": "chinese"},
        {"name": "cote", "area": "north", "pricerange": "expensive", "food": "french"},
    ],
    "attraction": [
        {"name": "kettle's yard", "area": "west", "type": "museum", "entrance fee": "free"},
        {"name": "the place", "area": "centre", "type": "nightclub", "entrance fee": "?"},
    ],
    "train": [
        {
            **{"trainID": "TR0001", "departure": "ely", "destination": "cambridge"},
            **{"day": "monday", "leaveAt": "09:35", "arriveBy": "09:52"},
            **{"duration": "17 minutes", "price": "4.40 pounds"},
        },
    ],
}
SLOTS = {
    "search_hotel": ("name", "area", "pricerange", "type", "stars", "internet", "parking"),
    "book_hotel": ("stay", "day", "people", "name"),
    "search_restaurant": ("food", "area", "pricerange", "name"),
    "book_restaurant": ("time", "day", "people", "name"),
    "search_attraction": ("type", "name", "area"),
    "search_train": ("departure", "destination", "day", "leaveAt", "arriveBy"),
    "book_train": ("people", "trainID"),
}
TOOLBOX = Toolbox(
    tuple(
        ToolSpec(name, name, {"type": "object", "properties": {slot: {} for slot in slots}})
        for name, slots in SLOTS.items()
    ),
    {
        f"search_{domain}": {
            slot: tuple({row[slot]: None for row in rows if slot in row})
            for slot in ("name", "area", "pricerange", "food", "type")
            if any(slot in row for row in rows)
        }
        for domain, rows in ROWS.items()
    },
)


@dataclass
class Talk:
    """A dialogue in progress: `say` gives the agent's reply, `calls` those of its last turn."""

    agent: Agent
    full_on: str = "friday"
    """The day on which nothing can be booked."""
    history: tuple[Turn, ...] = ()
    calls: list[ToolCall] = field(default_factory=list)

    def say(self, text: str, seed: int = 0) -> str:
        self.history += (Turn(Role.USER, text),)
        self.calls = []
        steps: tuple[Step, ...] = ()
        while True:
            situation = Situation(
                history=self.history,
                steps=steps,
                toolbox=TOOLBOX,
                seed=seed,
                must_reply=len(self.calls) >= self.agent.max_tool_calls,
            )
            step = asyncio.run(self.agent.act(situation, NoLLM("llm")))
            step = replace(step, results=tuple(map(self._carry_out, step.calls)))
            self.calls += step.calls
            steps += (step,)
            if step.reply is not None:
                self.history += (Turn(Role.AGENT, step.reply, steps),)
                return step.reply

    @property
    def call(self) -> tuple[str, dict]:
        """The only call of the last turn."""
        (call,) = self.calls
        return call.name, dict(call.arguments)

    def _carry_out(self, call: ToolCall) -> ToolResult:
        action, _, domain = call.name.partition("_")
        if action == "search":
            found = [row for row in ROWS[domain] if _fits(row, call)]
            return ToolResult(found[:1])
        if call.arguments.get("day") == self.full_on:
            return ToolResult({"success": False, "return": {}})
        return ToolResult({"success": True, "return": {"reference": "AB12CD34"}})


def _fits(row: dict, call: ToolCall) -> bool:
    for slot, value in call.arguments.items():
        if slot == "leaveAt":
            fits = row[slot] > str(value)
        elif slot == "arriveBy":
            fits = row[slot] < str(value)
        else:
            fits = row.get(slot) == value
        if not fits:
            return False
    return True
