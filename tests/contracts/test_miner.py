"""What every miner promises: one test for each option in conf/miner."""

from pathlib import Path
from typing import get_args

import pytest
from miner.groves import COMPACT, Grove, harvest, mined, say, wild

from drl.agent.rule import RuleAgent
from drl.errors import ConfigError
from drl.miner.base import DPORow, Form, KTORow, Miner, SFTRow
from drl.runtime.compose import compose, options
from drl.runtime.config import build, to_plain
from drl.tree.codec import from_line, to_line
from drl.types import StopReason

CONF = Path(__file__).parents[2] / "conf"
KINDS = {"sft": SFTRow, "dpo": DPORow, "kto": KTORow}


@pytest.fixture(params=options(CONF, "miner"))
def miner(request: pytest.FixtureRequest) -> Miner:
    built = build("miner", to_plain(compose(CONF, [f"miner={request.param}"]))["miner"])
    assert isinstance(built, Miner)
    return built


def test_it_gives_rows_of_the_forms_that_it_names(miner):
    assert miner.forms
    assert set(miner.forms) <= set(get_args(Form))
    for form in miner.forms:
        found = [row for seed in range(60) for row in rows(miner, form, seed)]
        assert {type(row) for row in found} == {KINDS[form]}


def rows(miner: Miner, form: Form, seed: int):
    tree, chances = wild(seed)
    return mined(miner, form, tree, COMPACT, chances)


def test_equal_trees_give_equal_rows_and_a_stored_tree_is_an_equal_one(miner):
    for form in miner.forms:
        for seed in range(20):
            tree, chances = wild(seed)
            stored = from_line(to_line(tree))
            assert mined(miner, form, stored, COMPACT, chances) == rows(miner, form, seed)


def test_a_row_says_of_which_tree_it_is(miner):
    for form in miner.forms:
        for seed in range(20):
            for row in rows(miner, form, seed):
                origin = row.origin
                assert (origin.run, origin.task_id, origin.trial) == ("run", "task", seed)
                assert origin.nodes


def test_trees_without_a_turn_or_without_a_success_give_nothing(miner):
    failed = Grove()
    failed.act(failed.ask(None), say("no"), stop=StopReason.MAX_TURNS, score=0.0)
    broken = Grove()
    broken.ask(None, "", stop=StopReason.ERROR)
    for tree in (Grove(), failed, broken):
        for form in miner.forms:
            assert mined(miner, form, tree) == []


def test_an_agent_without_a_model_is_refused(miner):
    silent = RuleAgent(temperature=0.0, max_tool_calls=3)
    for form in miner.forms:
        tree, chances = next(wild(seed) for seed in range(60) if rows(miner, form, seed))
        with pytest.raises(ConfigError, match="speaks through no model"):
            list(miner.mine(harvest(tree, silent, chances), form))
