import json
import re
import shlex

import pytest
from docs.file_map import END, ROOT, START, file_map

from drl.launch import preflight, register_resolvers
from drl.runtime.compose import jobs_of
from experiments.toolwoz_josh.study import table
from experiments.toolwoz_smollm2.table import table as table_of_arms

README = (ROOT / "README.md").read_text()


def test_the_file_map_is_true():
    shown = README.split(START)[1].split(END)[0]
    assert shown == file_map(), "run `make map`"


def test_every_link_leads_somewhere():
    for page in (ROOT / "README.md", *ROOT.glob("experiments/**/*.md"), ROOT / "CHANGELOG.md"):
        for link in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
            assert link.startswith("https://") or (page.parent / link).exists(), (page, link)


COMMANDS = [
    command.partition("#")[0].strip()
    for command in re.findall(r"^python run\.py (.*)$", README, re.MULTILINE)
]
STAND_INS = {
    "MODEL": "hf/smollm2",
    "my_rewards.py:score": "experiments/text_ppo/rewards.py:short_words",
}


@pytest.mark.parametrize("command", dict.fromkeys(COMMANDS))
def test_every_run_it_shows_can_be_built(command, tmp_path):
    for name, stand_in in STAND_INS.items():
        command = command.replace(name, stand_in)
    register_resolvers()
    jobs = jobs_of([*shlex.split(command), f"hydra.run.dir={tmp_path}"])
    for overrides in jobs.overrides:
        preflight(
            ROOT / "conf", [*overrides, f"hydra.sweep.dir={tmp_path}"], is_sweep=jobs.is_sweep
        )


def test_every_make_target_it_names_exists():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for name in re.findall(r"`?make ([a-z-]+)", README):
        assert name in targets, name


def test_results_tables_are_those_of_the_studies():
    searches = _results("toolwoz_josh")
    learned = _results("toolwoz_smollm2")
    shown = {"toolwoz_josh": table(searches["arms"]), "toolwoz_smollm2": table_of_arms(learned)}
    for study, rows in shown.items():
        for page in ("README.md", f"experiments/{study}/README.md"):
            assert rows in (ROOT / page).read_text(), page


def _results(study: str) -> dict[str, dict[str, object]]:
    return json.loads((ROOT / "experiments" / study / "results.json").read_text())
