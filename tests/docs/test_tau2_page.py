"""The page of tau2-bench shows commands whose options exist."""

import re
import shlex
from pathlib import Path

import pytest

from drl.launch import register_resolvers
from drl.runtime.compose import compose

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "experiments/tau2_bench/README.md").read_text()
COMMANDS = [
    command.partition("#")[0].strip()
    for command in re.findall(r"^python run\.py (.*)$", PAGE, re.MULTILINE)
]


@pytest.mark.parametrize("command", COMMANDS)
def test_what_it_shows_can_be_said(command):
    register_resolvers()
    compose(ROOT / "conf", shlex.split(command))


def test_it_shows_a_run_that_needs_no_key():
    assert any("agent=oracle" in command for command in COMMANDS)
