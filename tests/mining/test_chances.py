"""What resampling found out, as chances of nodes."""

import json

import pytest

from drl.errors import DataError
from drl.mining._chances import read_chances
from drl.tree.chance import Chance


def line(node: int, *, tries: int = 0, hits: int = 0, over: bool = False, earned: bool = False):
    known = {"task_id": "a", "trial": 0, "node": node, "label": "failed", "p_success": {}}
    return known | {"tries": tries, "hits": hits, "over": over, "earned": earned}


def write(folder, *lines):
    folder.mkdir()
    text = "".join(json.dumps(one) + "\n" for one in lines)
    (folder / "branches.jsonl").write_text(text)


def test_tries_of_several_resamplings_add_up_on_the_prior_of_jeffreys(tmp_path):
    write(tmp_path / "resample-1", line(3, tries=4, hits=1), line(5, tries=4, hits=4))
    write(tmp_path / "resample-2", line(3, tries=2, hits=2))
    # 3 of 6 and 4 of 4, each with half a success and half a failure before
    assert read_chances(tmp_path) == {("a", 0): {3: Chance(a=3.5, b=3.5), 5: Chance(a=4.5, b=0.5)}}


def test_what_is_over_is_certain_and_what_was_never_played_is_unknown(tmp_path):
    write(tmp_path / "resample-1", line(1, over=True, earned=True), line(2, over=True), line(3))
    chances = read_chances(tmp_path)["a", 0]
    means = {node: chance.a / (chance.a + chance.b) for node, chance in chances.items()}
    assert means == {1: pytest.approx(1, abs=1e-3), 2: pytest.approx(0, abs=1e-3)}


def test_a_run_that_nobody_resampled_has_no_chances(tmp_path):
    assert read_chances(tmp_path) == {}


def test_a_damaged_line_is_named(tmp_path):
    write(tmp_path / "resample-1", line(1), {"task_id": "a"})
    with pytest.raises(DataError, match=r"branches\.jsonl:2: not a line of a resampling"):
        read_chances(tmp_path)
