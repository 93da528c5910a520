from collections.abc import Iterator
from pathlib import Path

import pytest
from report.browser import Browser, start_browser
from report.pages import report
from report.synthetic import run_of_trees

from drl.report.task_card import TaskCard
from drl.tree.dialogue_tree import DialogueTree


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    started = start_browser()
    yield started
    started.close()


@pytest.fixture(scope="session")
def trees() -> list[tuple[TaskCard, DialogueTree]]:
    return list(run_of_trees(1, 44))


@pytest.fixture(scope="session")
def page(
    trees: list[tuple[TaskCard, DialogueTree]], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    share = {"value": 0.7125, "low": 0.6, "high": 0.8, "n": 44}
    return report(
        tmp_path_factory.mktemp("report"),
        trees,
        n_tasks=36,
        mean_reward=share,
        per_domain={"hotel": share, "train": share},
        per_goal_kind={"book_hotel": share},
        search=True,
        label="Search: it saw the rewards.",
        surprise={"deep": [{"a": 1, "b": "two"}]},
        command="python run.py +experiment=x",
    )
