"""What is read of the folder of a run, wherever it and the data lie now."""

from pathlib import Path

import pytest

from drl.errors import RunError
from drl.runtime.config import config_hash
from drl.runtime.run_dir import ADAPTER_OF_RUN, ROLLOUTS, RunDir
from drl.runtime.settings import check_positive
from drl.runtime.stored_run import StoredRun


class Shelf:
    """A part that lies in the folder of data."""

    def __init__(self, *, root: str, count: int) -> None:
        check_positive("shelf", count=count)
        self.root = root


CONFIG = {
    "name": "some",
    "data_dir": "old/data",
    "shelf": {"_target_": f"{__name__}.Shelf", "root": "old/data", "count": 1},
}


def stored(folder: Path, **changes) -> Path:
    """The folder of a run of this config."""
    with RunDir(folder) as run:
        run.claim({**CONFIG, **changes})
        run.claim_data("d-1")
    return folder


def test_what_keeps_a_folder_from_being_a_run_is_said(tmp_path):
    run = StoredRun(tmp_path / "run")
    assert (run.is_one, run.lack) == (False, "does not exist")
    stored(tmp_path / "run")
    assert (run.is_one, run.lack) == (True, f"has no {ROLLOUTS}")
    run.rollouts.touch()
    assert (run.is_one, run.lack) == (True, None)
    (tmp_path / "empty").mkdir()
    assert StoredRun(tmp_path / "empty").lack == f"has no {ROLLOUTS} and no provenance.json"


def test_a_run_that_was_moved_keeps_its_name_and_finds_its_data(tmp_path):
    there = stored(tmp_path / "run").rename(tmp_path / "elsewhere")
    here = StoredRun(there, data_dir=Path("new"))
    assert here.name == StoredRun(there).name == f"some/{config_hash(CONFIG)}"
    assert StoredRun(there).part("shelf", Shelf).root == "old/data"
    assert here.part("shelf", Shelf).root == "new"
    assert here.data_version == "d-1"
    assert here.command == here.provenance["command"]


def test_parts_that_are_not_there_or_of_other_code_are_named(tmp_path):
    run = StoredRun(stored(tmp_path / "run", shelf={**CONFIG["shelf"], "height": 2}))
    with pytest.raises(RunError, match="its config has no agent; name another run"):
        run.part("agent", object)
    with pytest.raises(RunError, match=r"made by other code than this \(shelf.height=2 is not a s"):
        run.part("shelf", Shelf)
    run = StoredRun(stored(tmp_path / "low", shelf={**CONFIG["shelf"], "count": 0}))
    with pytest.raises(RunError, match=r"made by other code than this \(shelf.count=0 must be"):
        run.part("shelf", Shelf)
    (tmp_path / "run" / "provenance.json").write_text("{}")
    with pytest.raises(RunError, match="holds no config"):
        StoredRun(tmp_path / "run").config  # noqa: B018


def test_a_run_without_an_adapter_says_why_and_what_to_do(tmp_path):
    run = StoredRun(stored(tmp_path / "sft", trainer={"lora": {}}))
    assert run.adapter is None
    finish = f"start it again ({run.command}) to finish it"
    assert run.why_no_adapter().startswith("has not finished its training")
    assert run.why_no_adapter().endswith(finish)
    (run.folder / ADAPTER_OF_RUN).mkdir(parents=True)
    assert run.adapter == run.folder / ADAPTER_OF_RUN

    rounds = StoredRun(stored(tmp_path / "rounds", trainer={"learn": {}}))
    assert rounds.why_no_adapter().endswith(finish)
    for number in (2, 10):
        (rounds.folder / f"round-{number}" / "learn" / ADAPTER_OF_RUN).mkdir(parents=True)
    (rounds.folder / "round-11" / "learn").mkdir(parents=True)
    assert rounds.why_no_adapter().endswith(f"such as {rounds.folder}/round-10/learn")
    assert rounds.adapter is None

    plain = StoredRun(stored(tmp_path / "plain", trainer={"trials": 1}))
    assert plain.why_no_adapter().startswith("is a run that trained no adapter")
