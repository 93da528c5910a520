"""The table of josh-train's flags names overrides that exist, and no flag is left out."""

import re
from pathlib import Path

import pytest

from drl.launch import register_resolvers
from drl.runtime.compose import compose

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "experiments/toolwoz_models/README.md").read_text()
ROWS = [row.split(" | ") for row in PAGE.splitlines() if row.startswith(("| `--", "| without"))]
FLAGS = [
    *["model", "peft_dir", "user_mode", "user_model"],
    *["agent_strategy", "temperature", "task_split", "start_index"],
    *["end_index", "max_convo_turns", "debug", "josh_debug"],
    *["josh", "shuffle", "log_dir", "max_concurrency"],
    *["seed", "beam_size", "josh_agent_tries"],
]
"""All options of josh-train 0.1.4's main program."""


def overrides(cell: str) -> list[str]:
    quoted = re.findall(r"`([^`]*)`", cell)
    said = [word for text in quoted for word in text.split() if "=" in word]
    return [re.sub(r"=(NAME|DIR|T)$", "=1", word) for word in said]


@pytest.mark.parametrize("flag", FLAGS)
def test_every_flag_has_a_row(flag):
    assert any(re.search(rf"--{flag}\b(?!_)", row[0]) for row in ROWS)


@pytest.mark.parametrize(("flag", "cell"), ROWS)
def test_what_a_row_says_can_be_said(flag, cell):
    register_resolvers()
    base = ["+experiment=toolwoz_josh_gpt4o_mini"]
    local = ["llm=hf"] if "llm.adapter" in cell else []
    for words in re.findall(r"`([^`]*)`", cell):
        compose(ROOT / "conf", [*base, *local, *overrides(f"`{words}`")])


def test_the_experiment_is_the_example_of_josh_trains_readme():
    register_resolvers()
    config = compose(ROOT / "conf", ["+experiment=toolwoz_josh_gpt4o_mini"])
    assert config.rollout.beam_size == 8
    assert config.rollout.concurrency == 20
    assert (config.dataset.split, config.dataset.start, config.dataset.limit) == ("train", 0, 10)
    assert (config.agent.style, config.agent.temperature) == ("paper", 1.0)
    assert config.llm.model.startswith("gpt-4o-mini")
    assert config.user_llm.model.startswith("gpt-4o-2024")
    assert config.seed == 20
