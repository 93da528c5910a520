"""tau-bench as a dataset, on the real data: which tasks there are, and which are left out."""

import os
from collections import Counter

import pytest
from tau.publishing import publish

from drl.dataset.tau_bench import TauBenchDataset
from drl.domains.tau.fetch import fetch
from drl.environment.tau import TauEnvironment
from drl.errors import ConfigError, DataError
from drl.reward.db_state import DbStateReward

DATA = os.environ.get("DRL_DATA", "data")
SETTINGS = {
    "root": DATA,
    "domain": "retail",
    "data": "tau1",
    "split": "test",
    "goals": "writes",
    "exclude_faulty": False,
    "exclude_overlap": False,
    "ids": None,
    "shuffle": None,
    "start": 0,
    "limit": None,
    "shard": 0,
    "num_shards": 1,
}


def dataset(**changes) -> TauBenchDataset:
    return TauBenchDataset(**SETTINGS | changes)


def load(**changes):
    return dataset(**changes).load()


def numbers(tasks) -> list[int]:
    return [int(task.id.rpartition("-")[2]) for task in tasks]


@pytest.mark.parametrize(
    ("domain", "split", "num_tasks"),
    [
        ("retail", "test", 115),
        ("retail", "train", 500),
        ("retail", "dev", 20),
        ("airline", "test", 50),
    ],
)
def test_every_split_has_its_published_size_and_order(domain, split, num_tasks):
    tasks = load(domain=domain, split=split)
    assert [task.id for task in tasks] == [f"{domain}-{split}-{n}" for n in range(num_tasks)]


def test_the_data_is_the_published_one():
    assert dataset().version.startswith("tau1-wheel-")
    assert dataset(data="tau1_old").version.startswith("tau1_old-wheel-")


def test_goals_are_the_writes_or_all_gold_actions():
    writes, everything = load(), load(goals="all")
    # the published numbers of gold writes a task, and of all gold actions
    counts = Counter(len(task.goals) for task in writes)
    assert counts == {0: 9, 1: 61, 2: 24, 3: 15, 4: 6}
    assert sum(len(task.goals) for task in everything) == round(5.06 * 115)
    assert max(len(task.goals) for task in everything) == 14
    first = everything[0]
    assert [goal.kind for goal in first.goals][-1] == "exchange_delivered_order_items"
    assert [goal.kind for goal in first.goals][:2] == [
        "find_user_id_by_name_zip",
        "get_order_details",
    ]
    assert [goal.kind for goal in writes[0].goals] == ["exchange_delivered_order_items"]
    assert {goal.domain for goal in first.goals} == {"retail"}
    (instruction,) = first.brief.instructions
    assert instruction == first.world.instruction


def test_tasks_with_wrong_labels_can_be_left_out():
    excluded = set(range(115)) - set(numbers(load(exclude_faulty=True)))
    assert excluded == {12, 13, 64, 106}
    train = set(range(500)) - set(numbers(load(split="train", exclude_faulty=True)))
    # fmt: off
    assert train == {
        24, 27, 81, 148, 161, 214, 229, 252, 253, 288, 314, 349, 351, 369, 376, 427, 431, 441, 469
    }
    # fmt: on
    assert len(load(domain="airline", exclude_faulty=True)) == 50
    older = set(range(115)) - set(numbers(load(data="tau1_old", exclude_faulty=True)))
    assert older - excluded == {34}  # its label has an argument that the tool does not know


def test_training_tasks_of_users_of_test_tasks_can_be_left_out():
    kept = load(split="train", exclude_overlap=True)
    tested = load()
    assert len(kept) == 500 - 91
    assert not {t.world.user_id for t in kept} & {t.world.user_id for t in tested}
    orders = {
        str(goal.arguments["order_id"])
        for task in tested
        for goal in task.goals
        if "order_id" in goal.arguments
    }
    assert not orders & {str(g.arguments.get("order_id")) for task in kept for g in task.goals}
    assert len(load(exclude_overlap=True)) == 115


def test_test_tasks_tell_whether_their_user_occurs_in_training():
    groups = Counter(task.groups["user"] for task in load())
    assert groups == {"seen": 97, "unseen": 18}
    assert {task.groups.get("user") for task in load(split="train")} == {None}
    assert {task.groups.get("user") for task in load(domain="airline")} == {None}


def test_two_known_tasks_differ_between_the_forms():
    new, old = (load(data=form, goals="all") for form in ("tau1", "tau1_old"))
    differing = [
        number
        for number, (one, other) in enumerate(zip(new, old, strict=True))
        if (one.goals, one.world.outputs) != (other.goals, other.world.outputs)
    ]
    assert differing == [33, 34]
    assert (new[33].world.outputs, old[33].world.outputs) == ((), ("1093.34",))
    assert new[34].world.outputs == old[34].world.outputs == ("1093.34",)
    (renamed,) = [goal for goal in new[34].goals if "state" in goal.arguments]
    (original,) = [goal for goal in old[34].goals if "province" in goal.arguments]
    assert list(renamed.arguments.values()) == list(original.arguments.values())
    for split, domain in (("train", "retail"), ("dev", "retail"), ("test", "airline")):
        one, other = (load(data=form, split=split, domain=domain) for form in ("tau1", "tau1_old"))
        assert [task.goals for task in one] == [task.goals for task in other]


@pytest.mark.parametrize(
    ("domain", "num_idle", "num_tasks"), [("retail", 7, 115), ("airline", 19, 50)]
)
@pytest.mark.parametrize("rules", ["tau1", "josh"])
def test_doing_nothing_scores_the_published_floor(domain, num_idle, num_tasks, rules):
    reward = DbStateReward(rules=rules, must_end=True)
    floor = reward.floor(load(domain=domain), TauEnvironment(mode="faithful"))
    assert floor == pytest.approx(num_idle / num_tasks)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"domain": "telecom"}, r"dataset\.domain=telecom is unknown; use one of retail, airline"),
        ({"data": "tau2"}, r"dataset\.data=tau2 is unknown; use one of tau1, tau1_old"),
        ({"goals": "reads"}, r"dataset\.goals=reads is unknown; use one of writes, all"),
        (
            {"domain": "airline", "split": "train"},
            r"dataset\.split=train does not exist in airline; use one of test",
        ),
        ({"split": "val"}, r"dataset\.split=val does not exist in retail; use one of test, train"),
        ({"limit": 0}, r"dataset\.limit=0"),
    ],
)
def test_settings_that_no_data_satisfies_are_refused_at_once(changes, complaint):
    with pytest.raises(ConfigError, match=complaint):
        dataset(**changes)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"ids": ["retail-test-115"]}, r"ids=retail-test-115 is past the last task of retail-test"),
        (
            {"ids": ["retail-train-3"]},
            r"not in retail-test; set dataset\.domain=retail and .*train",
        ),
        ({"ids": ["airline-test-3"]}, r"not in retail-test; set dataset\.domain=airline"),
        ({"ids": ["17"]}, r"ids=17 is no task of tau-bench; ids are like retail-test-0"),
        ({"ids": ["retail-test--1"]}, "is no task of tau-bench"),
        ({"ids": ["retail-test-12"], "exclude_faulty": True}, "leaves no task of retail test"),
        ({"start": 115}, r"dataset\.start=115 is past the last"),
    ],
)
def test_tasks_that_are_not_there_are_refused(changes, complaint):
    with pytest.raises(ConfigError, match=complaint):
        load(**changes)


def test_chosen_tasks_keep_the_published_order():
    assert numbers(load(ids=["retail-test-17", "retail-test-3"])) == [3, 17]
    assert numbers(load(start=2, limit=3)) == [2, 3, 4]
    drawn = numbers(load(shuffle=1))
    assert drawn != sorted(drawn) == list(range(115))


def test_a_form_that_the_stored_data_lacks_is_refused_in_one_line(tmp_path):
    fetch(tmp_path, publish(tmp_path / "published", old=False))
    with pytest.raises(DataError, match=r"no form tau1_old; use dataset\.data=tau1"):
        load(root=str(tmp_path), data="tau1_old")
