"""The page of the CANDOR experiments shows commands that run, and leaves no flag of GELI's out."""

import re
import shlex
from itertools import product
from pathlib import Path

import pytest
import typer

from drl.cli.main import app
from drl.evaluation.study_samples import read_samples
from drl.launch import preflight, register_resolvers
from drl.runtime.compose import compose, jobs_of

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "experiments/candor/README.md").read_text()
POLICY_PAGE = (ROOT / "experiments/candor_ppo/README.md").read_text()
COMMANDS = [
    command.partition("#")[0].strip()
    for command in re.findall(r"^python run\.py (.*)$", PAGE + POLICY_PAGE, re.MULTILINE)
]
ROWS = [
    [cell.strip() for cell in row.strip("|").split(" | ")]
    for row in PAGE.splitlines()
    if re.match(r"\| (LI|GELI|RL)[ ,]", row)
]
BASES = {
    "LI": ["dataset=candor/paper_faces", "trainer=reward_model/li/paper"],
    "GELI": ["dataset=candor/paper", "trainer=reward_model/geli/paper"],
    "RL": ["+experiment=candor_ppo_paper"],
}
LEARNING = [
    *["reward_class", "model", "batch_size", "K", "train_size", "train", "val", "redist_type"],
    *["affect_path", "lang_model_path", "reaction_type", "small_model_shrink", "small_model"],
    *["hard_shrink", "batch_norm", "curriculum", "curriculum_exposure", "unfreeze"],
    *["contrastive", "bar_chart"],
]
"""All flags of the scripts that learn a reward."""
POLICY = [
    *["exp_name", "batch_size", "model_name", "reward", "rf_model", "reward_class", "train"],
    *["val", "no_accel", "ppo_off", "generate", "peft"],
]
"""All flags of the script that learns a policy."""


def scripts(cell):
    return cell.partition("`")[0].strip().split(", ")


def overrides(quoted):
    words = [word for word in quoted.split() if re.match(r"\+?[\w.@/]+=", word)]
    return [re.sub(r"=(\w*,?)?\bN\b", r"=\g<1>16", re.sub(r"\bN\]", "16]", word)) for word in words]


@pytest.mark.parametrize(
    ("script", "flag"), [*product(("LI", "GELI"), LEARNING), *product(("RL",), POLICY)]
)
def test_every_flag_has_a_row(script, flag):
    ours = [row[0] for row in ROWS if script in scripts(row[0])]
    others = [row[0] for row in ROWS if script != "RL" and "RL" not in scripts(row[0])]
    # a flag of the shared parser that one of its two scripts never reads stands at the other
    assert any(re.search(rf"--{flag}\b(?!_)", cell) for cell in ours + others)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_what_a_row_says_can_be_said(row):
    register_resolvers()
    for script in scripts(row[0]):
        for quoted in re.findall(r"`([^`]*)`", row[2]):
            compose(ROOT / "conf", [*BASES[script], *overrides(quoted)])


@pytest.mark.parametrize("command", dict.fromkeys(COMMANDS))
def test_every_run_it_shows_can_be_built(command, tmp_path):
    register_resolvers()
    jobs = jobs_of([*shlex.split(command), f"hydra.run.dir={tmp_path}"])
    for job in jobs.overrides:
        preflight(ROOT / "conf", job, is_sweep=jobs.is_sweep)


@pytest.mark.parametrize(
    "quoted",
    [
        quoted
        for row in re.findall(r"^\| [a-z].*\| (`.*) \|$", PAGE, re.MULTILINE)
        for quoted in re.findall(r"`([^`]*=[^`]*)`", row)
    ],
)
def test_every_change_it_proposes_can_be_made(quoted):
    register_resolvers()
    experiment = "candor_llm_geli" if quoted.startswith("llm=") else "candor_geli"
    compose(ROOT / "conf", [f"+experiment={experiment}", *shlex.split(quoted)])


@pytest.mark.parametrize(
    "command", dict.fromkeys(re.findall(r"^drl ([^#\n]*)", PAGE + POLICY_PAGE, re.MULTILINE))
)
def test_every_option_of_the_commands_it_shows_exists(command):
    found, words = typer.main.get_command(app), shlex.split(command)
    while "commands" in vars(found):  # a group of others
        found = found.commands[words.pop(0)]
    known = {option for parameter in found.params for option in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= known


def test_the_line_of_a_pairs_file_that_it_shows_is_read(tmp_path):
    (line,) = re.findall(r"^```json\n(.*)\n```$", POLICY_PAGE, re.MULTILINE)
    (tmp_path / "pairs.jsonl").write_text(line)
    (sample,) = read_samples(tmp_path / "pairs.jsonl")
    assert sample.conversation == "c1"
