"""Messages and calls."""

from typing import Literal

from pydantic import BaseModel

Requestor = Literal["user", "assistant"]


class ToolCall(BaseModel):
    id: str = ""
    name: str
    arguments: dict
    requestor: Requestor = "assistant"


class Message(BaseModel):
    role: Literal["user", "assistant"]
    content: str | None = None
    tool_calls: list[ToolCall] | None = None


class ToolMessage(BaseModel):
    id: str = ""
    role: Literal["tool"] = "tool"
    content: str
    requestor: Requestor = "assistant"
    error: bool = False
