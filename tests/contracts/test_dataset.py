import os
from dataclasses import replace
from pathlib import Path

import pytest
import required

from drl.dataset.base import Dataset
from drl.runtime.compose import compose, options
from drl.runtime.config import build, to_plain

CONF = Path(__file__).parents[2] / "conf"


@pytest.fixture(params=options(CONF, "dataset"), scope="module")
def dataset(request) -> Dataset:
    overrides = [f"data_dir={os.environ.get('DRL_DATA', 'data')}"]
    overrides += required.choice("dataset", request.param)
    built = build("dataset", to_plain(compose(CONF, overrides))["dataset"])
    assert isinstance(built, Dataset)
    return built


def test_tasks_are_distinct_and_come_in_a_fixed_order(dataset):
    ids = [task.id for task in dataset.load()]
    assert len(set(ids)) == len(ids)
    assert ids == [task.id for task in dataset.load()]
    assert dataset.version


def test_shards_are_disjoint_and_complete(dataset):
    whole = [task.id for task in dataset.load()]
    shards = [
        [task.id for task in replace(dataset, num_shards=3, shard=shard).load()]
        for shard in range(3)
    ]
    assert sorted(id for shard in shards for id in shard) == sorted(whole)


def test_a_brief_holds_no_answer(dataset):
    """Booked entities and references are the environment's; the customer must be told them."""
    for task in dataset.load():
        own = {value for wish in task.brief.wishes for value in wish.constraints.values()}
        own |= {value for wish in task.brief.wishes for value in wish.first_constraints.values()}
        said = " ".join(task.brief.instructions).casefold()
        for goal in task.goals:
            booking = goal.details.get("booking")
            if isinstance(booking, dict):
                assert booking.get("reference") not in own
                assert str(booking.get("reference")).casefold() not in said
