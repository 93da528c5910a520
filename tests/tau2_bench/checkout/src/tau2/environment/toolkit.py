"""Tools as marked methods over a database."""

import inspect
from collections.abc import Callable
from enum import Enum

from pydantic import BaseModel, create_model

from tau2.utils.utils import hash_of


class ToolType(str, Enum):  # noqa: UP042 (as the package has it)
    READ = "read"
    WRITE = "write"
    GENERIC = "generic"


def is_tool(tool_type: ToolType) -> Callable:
    def mark(function: Callable) -> Callable:
        function.tool_type = tool_type  # pyright: ignore[reportFunctionMemberAccess]
        return function

    return mark


class Tool:
    def __init__(self, name: str, method: Callable) -> None:
        self.name = name
        self._method = method

    @property
    def openai_schema(self) -> dict:
        fields = {
            name: (p.annotation, ... if p.default is p.empty else p.default)
            for name, p in inspect.signature(self._method).parameters.items()
        }
        function = {
            "name": self.name,
            "description": inspect.getdoc(self._method),
            "parameters": create_model("parameters", **fields).model_json_schema(),
        }
        return {"type": "function", "function": function}


class Toolkit:
    num_copies = 0
    """How often a toolkit was copied, for tests of what a fork costs."""

    def __init__(self, db: BaseModel) -> None:
        self.db = db

    def __deepcopy__(self, memo: dict) -> "Toolkit":
        Toolkit.num_copies += 1
        other = type(self)(self.db.model_copy(deep=True))
        other.__dict__.update({k: v for k, v in vars(self).items() if k != "db"})
        return other

    @property
    def tools(self) -> dict[str, Callable]:
        methods = inspect.getmembers(self.__class__, inspect.isfunction)
        return {name: getattr(self, name) for name, m in methods if "tool_type" in vars(m)}

    def has_tool(self, tool_name: str) -> bool:
        return tool_name in self.tools

    def tool_type(self, tool_name: str) -> ToolType:
        return self.tools[tool_name].tool_type

    def use_tool(self, tool_name: str, **arguments: object) -> object:
        if tool_name not in self.tools:
            raise ValueError(f"Tool '{tool_name}' not found.")
        return self.tools[tool_name](**arguments)

    def update_db(self, data: dict) -> None:
        self.db = type(self.db).model_validate({**self.db.model_dump(), **data})

    def get_db_hash(self) -> str:
        return hash_of(self.db.model_dump())
