"""Users' Python functions as tools: which are tools, and what is said of them."""

import pytest
from environment.own_tools import result_of, task_of

from drl.environment.functions import FunctionsEnvironment
from drl.errors import ConfigError


def test_type_hints_and_docstring_become_the_schema(tools):
    environment = tools('''
        from typing import Annotated, Literal

        def order(
            state: dict,
            tea: Literal["mint", "black"],
            cups: Annotated[int, "how many"] = 1,
            note: str | None = None,
        ) -> str:
            """Orders tea.

            It is brewed at once.

            Args:
                tea: the kind
                    of tea
                cups: not said, for the hint says it
            """
            return "ok"
    ''')
    toolbox = environment.open(task_of()).toolbox
    assert toolbox.specs[0].to_openai()["function"] == {
        "name": "order",
        "description": "Orders tea.",
        "parameters": {
            "type": "object",
            "additionalProperties": False,
            "required": ["tea"],
            "properties": {
                "tea": {
                    "type": "string",
                    "enum": ["mint", "black"],
                    "description": "the kind of tea",
                },
                "cups": {"type": "integer", "default": 1, "description": "how many"},
                "note": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
            },
        },
    }
    assert toolbox.values == {"order": {"tea": ("mint", "black")}}


def test_parameters_may_bear_any_name_and_any_type_that_pydantic_knows(tools):
    environment = tools('''
        from __future__ import annotations
        from dataclasses import dataclass
        from datetime import date

        @dataclass
        class Guest:
            name: str

        def invite(copy: Guest, schema: date, model_config: list[int]) -> str:
            """Invites."""
            return f"{copy.name} {schema.year} {sum(model_config)}"
    ''')
    said = {"copy": {"name": "Ada"}, "schema": "2024-05-01", "model_config": ["1", 2]}
    assert result_of(environment, "invite", **said).value == "Ada 2024 3"


def test_only_public_functions_of_the_module_are_tools(tools):
    environment = tools('''
        from json import dumps

        def shown() -> str:
            """Is a tool."""
            return _hidden()

        def _hidden():
            return "x"

        def initial_state(task_state):
            return {}
    ''')
    assert [spec.name for spec in environment.open(task_of()).toolbox.specs] == ["shown"]


def test_all_names_the_tools_where_it_is_there(tools):
    environment = tools('''
        __all__ = ["chosen"]

        def chosen() -> str:
            """Is a tool."""
            return "x"

        def helper(x):
            return x
    ''')
    assert [spec.name for spec in environment.open(task_of()).toolbox.specs] == ["chosen"]


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("def f(x: int): ...", r"f cannot be a tool: it has no docstring"),
        ('def f(x):\n "F."', r"its parameter x has no type hint"),
        ('def f(*x: int):\n "F."', r"it takes \*x, but a tool names all its parameters"),
        ('def f(x: int, /):\n "F."', r"its parameter x cannot be given by name"),
        ('def f(x: int, state: dict):\n "F."', r"its parameter state does not come first"),
        ('def f(x: "Unknown"):\n "F."', r"have no JSON schema: name 'Unknown' is not defined"),
        ('import threading\ndef f(x: threading.Lock):\n "F."', r"have no JSON schema"),
        ('def größe():\n "F."', r"tool größe has a name that models cannot call"),
        ('__all__ = ["x"]\nx = 1', r"__all__ names x, which is no function"),
        ("x = 1", r"offers no tool"),
        ("import nothing_here", r"cannot be imported: ModuleNotFoundError.*\(own_tools\.py:1\)"),
        ('READ_ONLY = ("g",)\ndef f():\n "F."', r"READ_ONLY names g, which is no tool; tools: f"),
        ('READ_ONLY = "f"\ndef f():\n "F."', r"READ_ONLY must be a tuple of names"),
        ('def initial_state(): ...\ndef f():\n "F."', r"must be a plain function of the task's"),
    ],
)
def test_a_module_that_cannot_serve_is_refused(tools, code, message):
    with pytest.raises(ConfigError, match=r"environment\.tools=.*" + message):
        tools(code).open(task_of())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tools": "gone.py"}, r"environment\.tools=gone\.py is no file"),
        ({"timeout_s": 0.0}, r"environment\.timeout_s=0\.0 must be positive"),
    ],
)
def test_settings_are_checked_at_once(settings, message):
    chosen = {"tools": "json", "timeout_s": 1.0, "compare_texts": "loose"}
    with pytest.raises(ConfigError, match=message):
        FunctionsEnvironment(**chosen | settings)
