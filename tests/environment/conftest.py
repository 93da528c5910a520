"""What the tests of users' functions share."""

import textwrap
from typing import Any

import pytest
from environment.own_tools import TIMEOUT_S

from drl.environment.functions import FunctionsEnvironment


@pytest.fixture
def tools(tmp_path):
    """Writes a module of tools and gives an environment over it."""

    def build(code: str, **changes: Any) -> FunctionsEnvironment:
        path = tmp_path / "own_tools.py"
        path.write_text(textwrap.dedent(code))
        chosen = {"timeout_s": TIMEOUT_S, "compare_texts": "loose"}
        return FunctionsEnvironment(tools=str(path), **chosen | changes)

    return build
