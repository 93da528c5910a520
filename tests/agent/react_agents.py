"""ReAct agents and situations for tests, and how a request reads."""

import asyncio

from scripted_llm import says

from drl.agent._react import MARK
from drl.agent.base import Situation
from drl.agent.react import ReactAgent
from drl.llm.base import Completion, Request
from drl.types import Role, Step, Toolbox, ToolSpec, Turn

HOTELS = ToolSpec(
    "search_hotel",
    "Finds a hotel",
    {
        "type": "object",
        "required": ["area"],
        "properties": {
            "area": {"type": "string", "description": "Where", "enum": ["north", "south"]},
            "name": {"type": "string", "description": "Name"},
            "type": {"type": "string"},
            "stars": {"type": "integer", "description": "How good"},
        },
    },
)
TOOLBOX = Toolbox(
    (HOTELS, ToolSpec("book_hotel", "Books it", {"type": "object", "properties": {}})),
    {"search_hotel": {"name": tuple(map(str, range(100))), "type": ("hotel", "inn")}},
)
CUSTOMER = Turn(Role.USER, "A hotel in the north, please.")
CALL = f'PLAN search {MARK} APICALL {{"name": "search_hotel", "parameters": {{}}}} {MARK}'
REPLY = f"PLAN tell {MARK} SPEAK There is one. {MARK}"
STYLES = ("full", "compact", "paper")
TAU_STYLES = ("tau", "act")


def react(style: str = "full", **changes: object) -> ReactAgent:
    given: dict[str, object] = {
        **{"style": style, "temperature": 1.0, "top_p": None, "top_k": None},
        **{"max_tokens": 256, "max_tool_calls": 3, "limit_on": "tool_calls"},
    }
    return ReactAgent(**given | changes)  # type: ignore[arg-type]


def situation(*history: Turn, steps: tuple[Step, ...] = (), **known: object) -> Situation:
    return Situation(history or (CUSTOMER,), steps, TOOLBOX, 7, **known)  # type: ignore[arg-type]


def act(answer: Completion | str, known: Situation | None = None, style: str = "full") -> Step:
    return asyncio.run(react(style).act(known or situation(), says(answer)))


def chat(request: Request) -> list[tuple[str, str]]:
    """Role and content of all messages but the system prompt."""
    return [(message.role, message.content) for message in request.messages[1:]]
