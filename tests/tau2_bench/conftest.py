"""A miniature of tau2-bench (`checkout`), read as the real one is."""

from collections.abc import Callable
from pathlib import Path

import pytest

from drl.dataset.tau2 import Tau2Dataset
from drl.environment.tau2 import Tau2Environment
from drl.reward.tau2_check import Tau2CheckReward
from drl.types import Task

CHECKOUT = Path(__file__).parent / "checkout"


def build(domain: str = "mock", **changes: object) -> Tau2Dataset:
    """A data set over the miniature, with the given settings changed."""
    settings: dict[str, object] = {
        "root": str(CHECKOUT),
        "domain": domain,
        "split": "base",
        "ids": None,
        "shuffle": None,
        "start": 0,
        "limit": None,
        "shard": 0,
        "num_shards": 1,
    }
    return Tau2Dataset(**{**settings, **changes})  # type: ignore[arg-type]


@pytest.fixture
def checkout() -> Path:
    return CHECKOUT


@pytest.fixture
def dataset() -> Callable[..., Tau2Dataset]:
    return build


@pytest.fixture(scope="session")
def task() -> Callable[[str], Task]:
    """The task of a name: `easy` and `hard` of radio, or one of mock by its id."""
    names = {"easy": "[silence]off[PERSONA:Easy]", "hard": "[silence]off|unpaid[PERSONA:Hard]"}

    def find(name: str) -> Task:
        domain = "radio" if name in names else "mock"
        split = "odd" if name in ("spoken", "stale") else "base"
        (found,) = build(domain, split=split, ids=[names.get(name, name)]).load()
        return found

    return find


@pytest.fixture
def environment() -> Tau2Environment:
    return Tau2Environment()


@pytest.fixture
def reward() -> Callable[..., Tau2CheckReward]:
    """Builds the reward as in conf/reward/tau2_check.yaml but for these settings."""

    def build(**changes: object) -> Tau2CheckReward:
        settings: dict[str, object] = {
            "nl_assertions": "unscored",
            "max_errors": 10,
            "temperature": 0.0,
            "max_tokens": 100,
            "retries": 1,
        }
        return Tau2CheckReward(**{**settings, **changes})  # type: ignore[arg-type]

    return build
