"""Users' files that import what lies beside them."""

import sys
from pathlib import Path

import pytest

from drl.domains.own.modules import load_function


@pytest.fixture(autouse=True)
def untouched(monkeypatch):
    """Paths and modules of one test are none of the next."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr("drl.domains.own.modules._HOMES", [])
    yield
    sys.modules.pop("beside_for_test", None)


def folder_of(place: Path, answer: str) -> Path:
    place.mkdir()
    (place / "beside_for_test.py").write_text(f"ANSWER = {answer!r}\n")
    (place / "asks.py").write_text(
        "from beside_for_test import ANSWER\n\ndef ask():\n    return ANSWER\n"
    )
    return place


def test_files_of_two_folders_each_find_their_own_neighbour_of_one_name(tmp_path):
    first, second = folder_of(tmp_path / "a", "first"), folder_of(tmp_path / "b", "second")
    asks = [load_function("asks.py:ask", folder) for folder in (first, second, first)]
    assert [ask() for ask in asks] == ["first", "second", "first"]


def test_a_neighbour_changes_no_package_of_its_name(tmp_path):
    folder = folder_of(tmp_path / "a", "first")
    (folder / "json.py").write_text("dumps = None\n")
    (folder / "asks.py").write_text("import json\n\ndef ask():\n    return json.dumps([1])\n")
    assert load_function("asks.py:ask", folder)() == "[1]"


def test_a_folder_that_python_knew_before_keeps_its_place(tmp_path):
    folder = folder_of(tmp_path / "a", "first")
    sys.path.insert(0, str(folder))
    assert load_function("asks.py:ask", folder)() == "first"
    assert sys.path[0] == str(folder)
    assert sys.path.count(str(folder)) == 1
