"""The table of TextRL's names says where each of them is, and is right."""

import re
from importlib import import_module
from pathlib import Path

import pytest

import drl.compat.textrl as textrl

PAGE = (Path(__file__).parents[2] / "examples/textrl/README.md").read_text()
NEW, OLD = PAGE.split("## TextRL 1.0")[1].split("## TextRL 0.2")
PLACES = re.findall(r"`(drl\.compat\.textrl(?:\.\w+)+)`", NEW)
OF_1_0 = [
    *["TextRLConfig", "load_model", "OnlineTrainer", "PreferenceTrainer", "RewardModelTrainer"],
    *["RewardFn", "BaseReward", "ClassifierReward", "reward_fn", "to_reward_fn", "compose"],
    *["length_penalty", "repetition_penalty"],
]
"""All names that the package `textrl` 1.0.0 exports."""


@pytest.mark.parametrize("name", OF_1_0)
def test_every_name_of_1_0_has_a_row_and_is_public(name):
    assert f"| `{name}` | `drl.compat.textrl.{name}` |" in NEW
    assert name in textrl.__all__


@pytest.mark.parametrize("place", PLACES)
def test_what_a_row_names_is_there(place):
    module, _, name = place.rpartition(".")
    assert name in dir(import_module(module))


@pytest.mark.parametrize("name", ["TextRLEnv", "TextRLActor", "Evaluator", "save_agent"])
def test_every_name_of_0_2_has_a_row(name):
    assert re.search(rf"^\| `{name}`[,` ]", OLD, re.MULTILINE)
