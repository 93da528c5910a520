import json
import os
import subprocess
import sys

import pytest

from drl.errors import RunError
from drl.runtime.config import config_hash
from drl.runtime.run_dir import RunDir

CONFIG = {"name": "x", "seed": 0, "data_dir": "data", "dataset": {"root": "data", "limit": 3}}


def test_a_folder_belongs_to_the_config_it_began_with(tmp_path):
    with RunDir(tmp_path / "run") as run_dir:
        run_dir.claim(CONFIG)
        run_dir.claim(CONFIG)
        run_dir.write("rollouts.jsonl", "")
        with pytest.raises(RunError, match=r"another config \(dataset\.limit, seed differ\)"):
            run_dir.claim({**CONFIG, "seed": 1, "dataset": {"root": "data", "limit": 4}})
    provenance = json.loads((tmp_path / "run" / "provenance.json").read_text())
    assert provenance["config"] == CONFIG
    assert provenance["packages"]["drl"]


def test_a_run_that_kept_nothing_does_not_bind_the_next(tmp_path):
    with RunDir(tmp_path) as run_dir:
        run_dir.claim(CONFIG)
        run_dir.claim_data("toolwoz-1")
    other = {**CONFIG, "seed": 1}
    with RunDir(tmp_path) as run_dir:
        run_dir.claim(other)
        run_dir.claim_data("toolwoz-2")
        assert run_dir.provenance()["config"] == other


def test_paths_do_not_make_another_run(tmp_path):
    moved = {**CONFIG, "data_dir": "/elsewhere", "dataset": {"root": "/elsewhere", "limit": 3}}
    assert config_hash(moved) == config_hash(CONFIG)
    assert config_hash({**CONFIG, "seed": 1}) != config_hash(CONFIG)
    with RunDir(tmp_path) as run_dir:
        run_dir.claim(CONFIG)
        run_dir.claim(moved)


def test_a_run_stays_with_its_version_of_the_data(tmp_path):
    with RunDir(tmp_path) as run_dir:
        run_dir.claim(CONFIG)
        run_dir.claim_data("toolwoz-1")
        run_dir.claim(CONFIG)
        run_dir.claim_data("toolwoz-1")
        with pytest.raises(RunError, match="began on data toolwoz-1, but toolwoz-2 is there now"):
            run_dir.claim_data("toolwoz-2")


@pytest.mark.parametrize("text", [None, "", "[1]", '{"config":'])
def test_a_folder_whose_provenance_is_lost_is_refused(tmp_path, text):
    (tmp_path / "rollouts.jsonl").write_text("")
    if text is not None:
        (tmp_path / "provenance.json").write_text(text)
    with RunDir(tmp_path) as run_dir, pytest.raises(RunError, match=r"provenance\.json"):
        run_dir.claim(CONFIG)


def test_results_of_other_code_are_kept_but_not_silently(tmp_path, caplog):
    with RunDir(tmp_path) as run_dir:
        run_dir.claim(CONFIG)
        run_dir.warn_of_other_code(3)
        run_dir.write_json("provenance.json", {**run_dir.provenance(), "code": "other"})
        run_dir.warn_of_other_code(0)
        assert not caplog.records
        run_dir.warn_of_other_code(3)
    assert "3 results in" in caplog.text
    assert "the code has changed since" in caplog.text


def test_two_runs_cannot_share_a_folder(tmp_path):
    with RunDir(tmp_path), pytest.raises(RunError, match="another run is writing there"):
        RunDir(tmp_path).__enter__()
    with RunDir(tmp_path):
        pass  # free again


def test_a_lock_dies_with_its_process(tmp_path):
    script = (
        "import os, sys; from pathlib import Path; from drl.runtime.run_dir import RunDir;"
        "RunDir(Path(sys.argv[1])).__enter__(); os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)])
    assert done.returncode == -9
    with RunDir(tmp_path):
        pass


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(RunError, match=r"cannot be written .*hydra\.run\.dir"):
        RunDir(tmp_path / "file" / "run").__enter__()


def test_a_file_is_replaced_as_a_whole(tmp_path):
    with RunDir(tmp_path) as run_dir:
        run_dir.write("a.txt", "old")
        os.mkdir(tmp_path / "b.txt.draft")
        with pytest.raises(RunError, match=r"b\.txt: cannot be written"):
            run_dir.write("b.txt", "new")
        run_dir.write("a.txt", "new")
    assert (tmp_path / "a.txt").read_text() == "new"


@pytest.mark.parametrize("text", ["{garb", "{}", "[]", '{"seconds": "soon"}'])
def test_a_damaged_summary_is_told_and_counts_for_nothing(tmp_path, caplog, text):
    (tmp_path / "summary.json").write_text(text)
    assert RunDir(tmp_path).seconds_so_far() == 0.0
    assert "summary.json: cannot be read" in caplog.text
