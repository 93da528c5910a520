"""Which tasks the ToolWOZ data set gives, and what a customer is told."""

import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from drl.dataset.toolwoz import ToolWOZDataset
from drl.domains.toolwoz.fetch import fetch
from drl.errors import ConfigError, DataError
from drl.types import Task

Tasks = Callable[[str], dict[str, Task]]
Build = Callable[..., ToolWOZDataset]


def ids(dataset: ToolWOZDataset) -> list[str]:
    return [task.id for task in dataset.load()]


@pytest.mark.parametrize(
    ("split", "num_tasks", "num_by_goals"),
    [
        ("test", 450, {2: 137, 3: 235, 4: 78}),
        ("full_test", 805, {1: 73, 2: 293, 3: 336, 4: 103}),
        ("val", 793, {1: 68, 2: 254, 3: 349, 4: 122}),
        ("train", 6251, {1: 1277, 2: 2232, 3: 2045, 4: 697}),
        ("training_fnames", 926, {1: 111, 2: 430, 3: 312, 4: 73}),
    ],
)
def test_splits_have_the_published_sizes_and_goals(
    split: str, num_tasks: int, num_by_goals: dict[int, int], tasks_of: Tasks
):
    # josh.md 2.2
    tasks = tasks_of(split)
    assert len(tasks) == num_tasks
    assert Counter(len(task.goals) for task in tasks.values()) == num_by_goals
    assert list(tasks) == sorted(tasks)


def test_goals_of_test_are_those_counted(tasks_of: Tasks):
    kinds = Counter(goal.kind for task in tasks_of("test").values() for goal in task.goals)
    assert kinds == {
        "search_train": 350,
        "book_train": 174,
        "search_restaurant": 194,
        "book_restaurant": 127,
        "search_hotel": 169,
        "book_hotel": 90,
        "search_attraction": 187,
    }


def test_version_names_the_published_content(dataset: Build):
    assert dataset().version == "toolwoz-2"


def test_ids_may_leave_out_the_file_ending_and_come_in_the_order_of_the_split(dataset: Build):
    assert ids(dataset(ids=["PMUL0630", "MUL0003.json"])) == ["MUL0003.json", "PMUL0630.json"]


def test_limit_takes_the_first_of_those_chosen(dataset: Build):
    assert ids(dataset(limit=3)) == ids(dataset())[:3]
    assert ids(dataset(ids=["PMUL0630", "MUL0003"], limit=1)) == ["MUL0003.json"]


def test_a_slice_begins_where_start_says_in_the_order_that_shuffle_draws(dataset: Build):
    everything = ids(dataset())
    assert ids(dataset(start=5, limit=10)) == everything[5:15]
    drawn = ids(dataset(shuffle=3))
    assert drawn != everything
    assert sorted(drawn) == sorted(everything)
    assert ids(dataset(shuffle=3, start=5, limit=10)) == drawn[5:15]
    assert ids(dataset(shuffle=4)) != drawn
    with pytest.raises(ConfigError, match=r"dataset\.start=450 is past the last of the 450"):
        dataset(start=450).load()
    with pytest.raises(ConfigError, match=r"dataset\.start=-1 must not be negative"):
        dataset(start=-1)


@pytest.mark.parametrize("num_shards", [1, 2, 7, 30])
def test_shards_are_disjoint_and_together_complete(dataset: Build, num_shards: int):
    shards = [ids(dataset(limit=30, shard=n, num_shards=num_shards)) for n in range(num_shards)]
    together = [name for shard in shards for name in shard]
    assert sorted(together) == ids(dataset(limit=30))
    assert {len(shard) for shard in shards} <= {30 // num_shards, 30 // num_shards + 1}


def test_unwinnable_tasks_can_be_left_out(dataset: Build):
    left = ids(dataset(exclude_unwinnable=True))
    assert len(left) == 450 - 27
    assert "MUL0003.json" not in left


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"split": "dev"}, r"dataset\.split=dev is unknown; use one of train, val, test"),
        ({"limit": 0}, r"dataset\.limit=0 .*at least 1"),
        ({"num_shards": 0}, r"dataset\.num_shards=0 .*use 1"),
        ({"shard": 2, "num_shards": 2}, r"dataset\.shard=2 must be from 0 to 1"),
        ({"shard": -1}, r"dataset\.shard=-1 must be from 0 to 0"),
    ],
)
def test_a_choice_that_breaks_a_rule_is_refused_at_once(
    dataset: Build, changes: dict[str, object], message: str
):
    with pytest.raises(ConfigError, match=message):
        dataset(**changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ids": ["MUL9999"]}, r"dataset\.ids=MUL9999\.json is no dialogue.*MUL0003\.json"),
        ({"ids": ["MUL0001"]}, r"dataset\.ids=MUL0001\.json is not .*dataset\.split=train"),
        ({"ids": []}, r"dataset\.ids=\[\] leaves no task.*dataset\.ids=null"),
        ({"ids": ["MUL0003"], "exclude_unwinnable": True}, r"dataset\.ids=.*can be won"),
        ({"limit": 2, "shard": 2, "num_shards": 3}, r"dataset\.shard=2 of 3 is empty: only 2"),
    ],
)
def test_a_choice_without_tasks_is_refused_with_a_remedy(
    dataset: Build, changes: dict[str, object], message: str
):
    with pytest.raises(ConfigError, match=message):
        dataset(**changes).load()


def test_missing_data_is_fetched_and_without_network_the_way_out_is_named(
    tmp_path: Path, dataset: Build, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    missing = dataset(root=str(tmp_path / "data"))
    with pytest.raises(DataError, match=r"no ToolWOZ data in .* run `drl data toolwoz`"):
        _ = missing.version
    with pytest.raises(DataError, match=r"could not download josh-train.*--from PATH"):
        missing.load()


def test_data_of_another_content_is_read_and_says_so(
    tmp_path: Path, dataset: Build, published: Callable[..., Path]
):
    fetch(tmp_path / "data", published())
    small = dataset(root=str(tmp_path / "data"), split="val")
    assert ids(small) == ["D00001.json", "D00004.json"]
    assert small.version.startswith("toolwoz-2+")


def test_instructions_are_the_published_messages_without_markup(tasks_of: Tasks):
    task = tasks_of("test")["MUL0484.json"]
    assert task.brief.instructions[1] == (
        "You are looking for a train. The train should depart from norwich and should go to "
        "cambridge"
    )
    for split in ("full_test", "val", "train"):
        for other in tasks_of(split).values():
            assert not any("<" in text or "emphasis" in text for text in other.brief.instructions)
            assert not other.brief.instructions[0].startswith("Task ")


def test_wishes_follow_the_instructions_and_hold_what_is_tried_first(tasks_of: Tasks):
    # MUL0001: first an indian restaurant, then a hotel for 2 nights or, failing that, 1
    wishes = tasks_of("train")["MUL0001.json"].brief.wishes
    restaurant, hotel = wishes
    assert restaurant.domain == "restaurant"
    assert restaurant.constraints == {"food": "indian", "pricerange": "expensive", "area": "centre"}
    assert restaurant.first_constraints == {}
    assert restaurant.booking == {"people": "6", "day": "saturday", "time": "19:30"}
    assert hotel.domain == "hotel"
    assert hotel.booking == {"people": "6", "day": "saturday", "stay": "1"}
    assert hotel.first_booking == {"people": "6", "day": "saturday", "stay": "2"}


def test_the_first_attempt_is_all_that_the_customer_asks_for(tasks_of: Tasks):
    # PMUL2389: cheap mexican food, or chinese if there is none
    restaurant, attraction = tasks_of("val")["PMUL2389.json"].brief.wishes
    assert restaurant.first_constraints == {"food": "mexican", "pricerange": "cheap"}
    assert restaurant.constraints == {"food": "chinese", "pricerange": "cheap"}
    assert restaurant.requests == ("phone",)
    assert restaurant.booking == {}
    assert attraction.constraints == {"name": "clare college"}


def test_wishes_hold_texts_only_and_cover_all_goals(tasks_of: Tasks):
    for split in ("full_test", "val", "train"):
        for task in tasks_of(split).values():
            domains = {wish.domain for wish in task.brief.wishes}
            assert domains >= {goal.domain for goal in task.goals}
            for wish in task.brief.wishes:
                said = (wish.constraints, wish.first_constraints, wish.booking, wish.first_booking)
                assert not any("invalid" in name for values in said for name in values)
                assert all(isinstance(v, str) and v for values in said for v in values.values())


def test_no_brief_holds_the_booked_entity_or_its_reference(tasks_of: Tasks):
    for split in ("full_test", "val", "train"):
        for task in tasks_of(split).values():
            told = json.dumps([task.brief.instructions, [_values(task)]]).lower()
            for goal in task.goals:
                if goal.kind.startswith("book_"):
                    check_is_not_told(task, goal.details["entity"], told)
                    booking = goal.details["booking"]
                    assert isinstance(booking, dict)
                    assert str(booking["reference"]).lower() not in told


def check_is_not_told(task: Task, entity: object, told: str) -> None:
    """A name may be told only if it is the customer's own wish, or a word like "ask"."""
    own = [wish.constraints.get("name") for wish in task.brief.wishes]
    own += [wish.first_constraints.get("name") for wish in task.brief.wishes]
    if entity not in own and len(str(entity)) > 5:
        assert str(entity).lower() not in told


def _values(task: Task) -> list[dict[str, str]]:
    return [
        {**wish.constraints, **wish.first_constraints, **wish.booking, **wish.first_booking}
        for wish in task.brief.wishes
    ]
