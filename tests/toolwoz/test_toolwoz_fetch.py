"""Fetching: all or nothing, once, and one clear line when it cannot be done."""

import os
import random
import resource
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from drl.domains.toolwoz import compact, world
from drl.domains.toolwoz.fetch import fetch, is_fetched
from drl.errors import DataError

Published = Callable[..., Path]
SCRIPT = """
import sys
from pathlib import Path
from drl.domains.toolwoz.fetch import fetch
from drl.errors import DataError
try:
    fetch(Path(sys.argv[1]), Path(sys.argv[2]))
except DataError as error:
    sys.exit(f"DataError: {error}")
"""


def start(root: Path, source: Path, limit: int | None = None) -> subprocess.Popen[str]:
    """A process that fetches; `limit` is the most bytes that it may write to a file."""

    def restrict() -> None:
        if limit is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(root), str(source)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=restrict,
    )


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {".toolwoz.lock"}


def test_a_folder_becomes_the_compact_form(tmp_path: Path, published: Published):
    # of 16 dialogues numbers 6 and 13 want a taxi; every third is for test, the next for val
    folder = fetch(tmp_path / "data", published(num_dialogues=16))
    loaded = world.load(tmp_path / "data")
    assert folder == tmp_path / "data" / "toolwoz"
    assert names(folder) == {"manifest.json", "world.json.gz", "dialogues.tsv.gz"}
    assert names(tmp_path / "data") == {"toolwoz"}
    numbers = {split: [int(name[1:6]) for name in ids] for split, ids in loaded.splits.items()}
    assert numbers == {
        "test": [0, 3, 9, 12, 15],
        "full_test": [0, 3, 9, 12, 15],
        "val": [1, 4, 7, 10],
        "train": [2, 5, 8, 11, 14],
        "training_fnames": [2, 5, 8, 11, 14],
    }
    record = loaded.scene("D00003.json").record
    assert record.messages == ("Find inn 3.",)
    assert record.human_turns == ("An inn in the north, please. 3",)
    assert record.human_replies == ("Booked.",)


def test_test_is_the_first_450_of_full_test(tmp_path: Path, published: Published):
    # 1,575 dialogues, a third of them for test: 525, less those with a taxi (one in seven): 450
    fetch(tmp_path / "more", published(num_dialogues=1600))
    splits = world.load(tmp_path / "more").splits
    assert len(splits["full_test"]) > 450
    assert splits["test"] == splits["full_test"][:450]


def test_other_content_than_the_published_carries_its_own_version(
    tmp_path: Path, published: Published
):
    fetch(tmp_path, published())
    assert world.load(tmp_path).version.startswith(f"{compact.FORMAT}+")


def test_a_second_call_changes_nothing_and_needs_no_source(tmp_path: Path, published: Published):
    folder = fetch(tmp_path, published())
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert fetch(tmp_path, tmp_path / "no such source") == folder
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == before


def test_a_zip_is_read_with_what_lies_beside_it(tmp_path: Path, published: Published):
    folder = published()
    data = folder / "data" / "data.json"
    with zipfile.ZipFile(folder / "data" / "dataset.zip", "w") as archive:
        archive.write(data, "data.json")
    data.unlink()
    fetch(tmp_path / "from zip", folder / "data" / "dataset.zip")
    fetch(tmp_path / "from folder", folder)
    assert world.load(tmp_path / "from zip").version == world.load(tmp_path / "from folder").version


def test_a_zip_alone_is_refused_since_it_has_no_tables(tmp_path: Path):
    alone = tmp_path / "dataset.zip"
    with zipfile.ZipFile(alone, "w") as archive:
        archive.writestr("data.json", "{}")
    with pytest.raises(DataError, match=r"holds dialogues only.*give the wheel"):
        fetch(tmp_path / "data", alone)


def test_another_wheel_is_refused_by_its_checksum(tmp_path: Path):
    wheel = tmp_path / "josh_train-0.1.4-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("data/dataset.zip", "x")
    with pytest.raises(DataError, match=r"has sha256 .*drl data toolwoz --from PATH"):
        fetch(tmp_path / "data", wheel)
    assert names(tmp_path / "data") == set()


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x03\x04 cut short"])
def test_a_file_that_is_no_wheel_is_refused(tmp_path: Path, content: bytes):
    wheel = tmp_path / "josh_train.whl"
    wheel.write_bytes(content)
    with pytest.raises(DataError, match=r"not a readable zip or wheel.*--from"):
        fetch(tmp_path / "data", wheel)


def test_a_missing_source_is_refused(tmp_path: Path):
    with pytest.raises(DataError, match=r"nowhere does not exist.*--from"):
        fetch(tmp_path / "data", tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("data/data.json", ""),
        ("data/data.json", "[]"),
        ("data/data.json", '{"D00000.json": {"goal": {}'),
        ("data/data.json", '{"D00000.json": 3}'),
        ("data/data.json", '{"D00000.json": {"goal": {}, "log": []}}'),
        ("data/tools.json", "{"),
        ("data/tools.json", "3"),
        ("db/hotel_db.json", "[3]"),
        ("data/valListFile.json", None),
        ("db/train_db.json", None),
    ],
)
def test_a_broken_or_missing_file_leaves_nothing_behind(
    tmp_path: Path, published: Published, name: str, text: str | None
):
    source = published()
    (source / name).unlink()
    if text is not None:
        (source / name).write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match="--from"):
        fetch(tmp_path / "data", source)
    assert names(tmp_path / "data") == set()


def test_without_network_pip_says_why_and_the_way_out_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for name in list(os.environ):
        if name.startswith("PIP_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(DataError, match=r"pip could not download josh-train==0\.1\.4.*--from PATH"):
        fetch(tmp_path / "data")
    assert names(tmp_path / "data") == set()


def test_a_root_that_cannot_be_written_is_named(tmp_path: Path, published: Published):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DataError, match=r"cannot write .*file.*folder that can be written"):
        fetch(tmp_path / "file" / "data", published())


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, published: Published):
    process = start(tmp_path / "data", published(num_dialogues=300), limit=2000)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert errors.startswith("DataError: cannot write the ToolWOZ data into")
    assert "free about 100 MB there" in errors
    assert "Traceback" not in errors
    assert names(tmp_path / "data") == set()


def test_off_a_terminal_nothing_is_printed(tmp_path: Path, published: Published):
    process = start(tmp_path / "data", published())
    assert process.communicate(timeout=60) == ("", "")
    assert process.returncode == 0


def test_killed_at_any_moment_it_leaves_all_or_nothing(tmp_path: Path, published: Published):
    source = published(num_dialogues=4000)
    undisturbed = time.monotonic()
    assert start(tmp_path / "whole", source).communicate(timeout=60) == ("", "")
    undisturbed = time.monotonic() - undisturbed
    generator = random.Random(0)
    for number in range(8):
        root = tmp_path / f"data{number}"
        process = start(root, source)
        time.sleep(generator.uniform(0.3, 1.0) * undisturbed)
        process.kill()
        process.communicate(timeout=60)
        if (root / "toolwoz").exists():
            assert is_fetched(root)
            continue
        fetch(root, source)
        assert names(root) == {"toolwoz"}


def test_what_a_killed_run_left_is_cleared_by_the_next(tmp_path: Path, published: Published):
    leftover = tmp_path / "data" / ".toolwoz-work-killed"
    leftover.mkdir(parents=True)
    (leftover / "half").write_text("x")
    fetch(tmp_path / "data", published())
    assert names(tmp_path / "data") == {"toolwoz"}


def test_runs_at_the_same_time_do_not_break_each_other(tmp_path: Path, published: Published):
    source = published(num_dialogues=1000)
    processes = [start(tmp_path / "data", source) for _ in range(3)]
    assert [process.communicate(timeout=60) for process in processes] == [("", "")] * 3
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert is_fetched(tmp_path / "data")
    assert names(tmp_path / "data") == {"toolwoz"}


@pytest.mark.parametrize("name", ["world.json.gz", "dialogues.tsv.gz", "manifest.json"])
@pytest.mark.parametrize("damage", ["cut", "removed", "changed"])
def test_damaged_data_is_refused_with_a_remedy_and_fetched_anew(
    tmp_path: Path, published: Published, name: str, damage: str
):
    source = published()
    path = fetch(tmp_path, source) / name
    content = path.read_bytes()
    path.unlink()
    if damage == "cut":
        path.write_bytes(content[: len(content) // 2])
    elif damage == "changed":
        path.write_bytes(content[:20] + b"?" + content[21:])
    with pytest.raises(DataError, match="drl data toolwoz"):
        world.load(tmp_path)
    fetch(tmp_path, source)
    world.load(tmp_path)


def test_another_version_is_refused_with_a_remedy(tmp_path: Path, published: Published):
    manifest = fetch(tmp_path, published()) / "manifest.json"
    manifest.write_text(manifest.read_text().replace("toolwoz-2", "toolwoz-1"))
    with pytest.raises(DataError, match=r"version toolwoz-1, this code reads toolwoz-2.*drl data"):
        world.load(tmp_path)
