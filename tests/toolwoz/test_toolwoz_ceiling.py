"""What no agent can win, as measured with josh-train's own code (josh.md 2.7)."""

import asyncio
from collections import Counter
from collections.abc import Callable

import pytest

from drl.domains.toolwoz.winnable import unreachable
from drl.domains.toolwoz.world import Scene
from drl.environment.toolwoz import ToolWOZEnvironment
from drl.evaluation.ceiling import Ceiling, ceiling, replay
from drl.types import Brief, Task

Tasks = Callable[[str], dict[str, Task]]

UNWINNABLE_IN_TEST = """
MUL0003 MUL0089 MUL0225 MUL0575 MUL0594 MUL0744 MUL0831 MUL0843 MUL1050 MUL1254 MUL1546 MUL1606
MUL1806 MUL1901 MUL2195 MUL2365 MUL2609 PMUL0630 PMUL0815 PMUL1087 PMUL1091 PMUL1266 PMUL1739
PMUL1772 PMUL1779 PMUL1966 PMUL2351
"""
"""Measured with josh-train over all subsets of the goal parameters."""


def measured(tasks: dict[str, Task], mode: str) -> Ceiling:
    environment = ToolWOZEnvironment(mode=mode)  # type: ignore[arg-type]
    return asyncio.run(ceiling(list(tasks.values()), environment))


@pytest.mark.parametrize(
    ("split", "mean_reward", "full_success", "missed"),
    [
        ("test", 0.9798, 0.9378, {"train": 12, "attraction": 7, "restaurant": 6, "hotel": 3}),
        (
            "full_test",
            0.9789,
            0.9404,
            {"train": 19, "attraction": 15, "restaurant": 10, "hotel": 4},
        ),
        ("val", 0.9828, 0.9521, {"train": 20, "attraction": 11, "restaurant": 6, "hotel": 2}),
    ],
)
def test_exact_goal_calls_earn_the_published_ceiling(
    split, mean_reward, full_success, missed, tasks_of: Tasks
):
    found = measured(tasks_of(split), "faithful")
    assert found.mean_reward == pytest.approx(mean_reward, abs=5e-5)
    assert found.full_success == pytest.approx(full_success, abs=5e-5)
    kinds: Counter[str] = Counter()
    for (kind, _), count in found.missed().items():
        kinds[kind] += count
    assert kinds == {f"search_{domain}": count for domain, count in missed.items()}


def test_every_eighth_training_task_earns_the_published_ceiling(tasks_of: Tasks):
    eighth = dict(list(tasks_of("train").items())[::8])
    found = measured(eighth, "faithful")
    assert len(eighth) == 782
    assert found.mean_reward == pytest.approx(0.9580, abs=5e-5)
    assert found.full_success == pytest.approx(0.8951, abs=5e-5)


def test_the_booked_trains_of_test_contradict_their_goals_in_route_day_or_time(tasks_of: Tasks):
    # josh.md 2.7: 6 route, 4 day, 2 time
    causes = Counter[str]()
    for (kind, cause), count in measured(tasks_of("test"), "faithful").missed().items():
        if kind == "search_train":
            route = "departure" in cause or "destination" in cause
            causes["route" if route else "day" if "day" in cause else "time"] += count
    assert causes == {"route": 6, "day": 4, "time": 2}


def test_unwinnable_dialogues_of_test_are_those_measured(tasks_of: Tasks):
    found = [
        task.id
        for task in tasks_of("test").values()
        if isinstance(task.world, Scene) and unreachable(task.world, "faithful")
    ]
    assert found == [f"{name}.json" for name in UNWINNABLE_IN_TEST.split()]


def test_fixed_makes_no_dialogue_unwinnable_that_can_be_won_in_faithful(tasks_of: Tasks):
    for split in ("full_test", "val"):
        for task in tasks_of(split).values():
            assert isinstance(task.world, Scene)
            repaired = set(map(id, unreachable(task.world, "fixed")))
            assert repaired <= set(map(id, unreachable(task.world, "faithful")))


def test_fixed_loses_no_goal_to_spelling(tasks_of: Tasks):
    for split in ("full_test", "val"):
        causes = {cause for _, cause in measured(tasks_of(split), "fixed").missed()}
        assert not any("spelling" in cause for cause in causes)


def test_a_task_without_goals_has_no_reward_and_counts_in_no_average(tasks_of: Tasks):
    some = next(iter(tasks_of("test").values()))
    empty = Task("none", "test", Brief(()), (), some.world)
    environment = ToolWOZEnvironment(mode="faithful")
    assert asyncio.run(replay(empty, environment)).reward is None
    nothing = asyncio.run(ceiling([empty], environment))
    assert nothing.mean_reward is None
    assert nothing.full_success is None
