"""Real ToolWOZ for tests that need it, and a miniature of the published files for the others."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from drl.dataset.toolwoz import ToolWOZDataset
from drl.domains.toolwoz import world
from drl.domains.toolwoz.fetch import fetch
from drl.domains.toolwoz.world import World
from drl.types import Task

DATA = Path(os.environ.get("DRL_DATA", "data"))


@pytest.fixture(scope="session")
def real_world() -> World:
    """The real data; downloaded if it is not there yet."""
    fetch(DATA)
    return world.load(DATA)


@pytest.fixture(scope="session")
def dataset(real_world: World) -> Callable[..., ToolWOZDataset]:
    """Builds a data set over the real data, with the given settings changed."""

    def build(**changes: object) -> ToolWOZDataset:
        settings: dict[str, object] = {
            "root": str(DATA),
            "split": "test",
            "ids": None,
            "exclude_unwinnable": False,
            "shuffle": None,
            "start": 0,
            "limit": None,
            "shard": 0,
            "num_shards": 1,
        }
        return ToolWOZDataset(**settings | changes)  # type: ignore[arg-type]

    return build


@pytest.fixture(scope="session")
def tasks_of(dataset: Callable[..., ToolWOZDataset]) -> Callable[[str], dict[str, Task]]:
    """The real tasks of a split by id."""
    return lambda split: {task.id: task for task in dataset(split=split).load()}


@pytest.fixture
def published(tmp_path: Path) -> Callable[..., Path]:
    """Writes a folder laid out like the unpacked wheel, with so many dialogues."""

    def write(*, num_dialogues: int = 6) -> Path:
        folder = tmp_path / "published"
        for name in ("data", "db", "josh_train"):
            (folder / name).mkdir(parents=True)
        names = [f"D{number:05d}.json" for number in range(num_dialogues)]
        dialogues = {name: _dialogue(number) for number, name in enumerate(names)}
        contents = {
            "data/data.json": json.dumps(dialogues, indent=4),
            "data/testListFile.json": "\n".join(names[0::3]),
            "data/valListFile.json": "\n".join(names[1::3]),
            "data/tools.json": json.dumps(_tools()),
            "data/valid_api_defs.json": json.dumps(_definitions()),
            "josh_train/training_fnames.json": json.dumps(names[2::3]),
            **{f"db/{domain}_db.json": json.dumps(rows) for domain, rows in _tables().items()},
        }
        for name, text in contents.items():
            (folder / name).write_text(text, encoding="utf-8")
        return folder

    return write


def _dialogue(number: int) -> dict[str, object]:
    """A customer who wants an inn and books the one named; every seventh wants a taxi."""
    empty = {domain: {} for domain in ("taxi", "police", "hospital", "attraction", "train")}
    state = {"book": {"booked": [{"name": "the green inn", "reference": "R1"}]}, "semi": {}}
    hotel = {
        "info": {"area": "north"},
        "fail_info": {"area": "south"},
        "book": {"stay": "2", "day": "monday", "people": "1", "invalid": False},
        "fail_book": {},
    }
    taxi = {"taxi": {"info": {"leaveAt": "10:00"}}} if number % 7 == 6 else {}
    return {
        "goal": {**empty, "restaurant": {}, "hotel": hotel, "message": [f"Find inn {number}."]}
        | taxi,
        "log": [
            {"text": f"An inn in the north, please. {number}\n", "metadata": {}},
            {"text": "Booked.", "metadata": {"hotel": state}},
        ],
    }


def _definitions() -> dict[str, object]:
    def pair(domain: str, search: list[str], book: list[str]) -> dict[str, object]:
        return {
            f"search_{domain}": {"parameters": search, "returns": ["id", *search]},
            f"book_{domain}": {"parameters": book, "returns": ["name", "reference"]},
        }

    return {
        "hotel": pair("hotel", ["name", "area"], ["stay", "day", "people", "name"]),
        "attraction": pair("attraction", ["name", "area"], []),
        "train": pair("train", ["day", "leaveAt", "arriveBy"], ["people", "trainID"]),
        "restaurant": pair("restaurant", ["name", "area"], ["time", "day", "people", "name"]),
    }


def _tools() -> list[object]:
    schema = {"type": "object", "required": [], "properties": {"area": {"type": "string"}}}
    function = {"name": "search_hotel", "description": "Finds a hotel", "parameters": schema}
    return [{"type": "function", "function": function}]


def _tables() -> dict[str, list[dict[str, str]]]:
    inns = [
        {"name": "the green inn", "area": "north"},
        {"name": "the red inn", "area": "south", "phone": "1"},
    ]
    trains = [{"trainID": "T1", "day": "monday", "leaveAt": "09:00", "arriveBy": "10:00"}]
    return {"hotel": inns, "attraction": inns, "restaurant": inns, "train": trains}
