"""The page of tau-bench shows commands that run, and options that exist."""

import re
import shlex
from pathlib import Path

import pytest

from drl.launch import preflight, register_resolvers
from drl.runtime.compose import compose, jobs_of

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "experiments/tau_bench/README.md").read_text()
COMMANDS = [
    command.partition("#")[0].strip()
    for command in re.findall(r"^python run\.py (.*)$", PAGE, re.MULTILINE)
]
WITH_MODELS = [
    *("+experiment=tau_retail_eval", "agent=function_calling/tau", "llm=openai"),
    *("user_simulator=tau", "llm@user_llm=openai"),
]
ROWS = [row.strip("|").split(" | ") for row in PAGE.splitlines() if row.startswith("| `--")]


@pytest.mark.parametrize("command", dict.fromkeys(COMMANDS))
def test_every_run_it_shows_can_be_built(command, tmp_path):
    register_resolvers()
    places = [f"hydra.run.dir={tmp_path}", f"hydra.sweep.dir={tmp_path}"]
    jobs = jobs_of([*shlex.split(command), *places])
    for job in jobs.overrides:
        preflight(ROOT / "conf", job, is_sweep=jobs.is_sweep)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_what_a_row_says_can_be_said(row, tmp_path):
    register_resolvers()
    file = tmp_path / "shown.jsonl"
    for quoted in re.findall(r"`([^`]*)`", row[1]):
        first, *more = quoted.replace("FILE", str(file)).split()
        said = first if "=" in first else f"agent={first}"
        compose(ROOT / "conf", [*([] if said.startswith("+") else WITH_MODELS), said, *more])
