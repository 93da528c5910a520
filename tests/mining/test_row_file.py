"""Rows of files, our own and of other makers."""

import json

import pytest
from mining.forest import labelled

from drl.errors import DataError
from drl.llm.base import Message
from drl.miner.base import Origin, SFTRow
from drl.mining.formats import to_openai, to_trl
from drl.mining.row_file import read_origin, read_rows

ORIGIN = Origin(run="run/1", task_id="a", trial=2, nodes=(1, 3), step=0)


def dialogue(trained: tuple[int, ...]) -> SFTRow:
    says = [Message("user", "hi"), Message("assistant", "a"), Message("assistant", "b")]
    return SFTRow(messages=tuple(says), trained=trained, origin=ORIGIN)


def read(tmp_path, raw, form="sft"):
    (tmp_path / "rows.jsonl").write_text(json.dumps(raw) + "\n")
    return list(read_rows(tmp_path / "rows.jsonl", form))


@pytest.mark.parametrize("write", [to_trl, to_openai])
@pytest.mark.parametrize("trained", [(1, 2), (2,)])
def test_what_is_trained_is_read_back_in_both_formats(tmp_path, write, trained):
    (row,) = read(tmp_path, write(dialogue(trained)))
    assert row.messages == dialogue(trained).messages
    assert row.trained == trained


def test_a_weight_of_zero_is_untrained_whatever_else_is_said(tmp_path):
    raw = to_openai(dialogue((2,)))
    (row,) = read(tmp_path, raw | {"trained": [1, 2]})
    assert row.trained == (2,)
    with pytest.raises(DataError, match="no message of the assistant is trained"):
        read(tmp_path, raw | {"trained": [1]})


@pytest.mark.parametrize("weight", [0.5, "0", None, -1])
def test_other_weights_of_messages_are_refused(tmp_path, weight):
    messages = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "a", "weight": weight},
    ]
    with pytest.raises(
        DataError, match=r":1: is no row for sft \(messages\.1\.weight=.* be 0 or 1"
    ):
        read(tmp_path, {"messages": messages})


def test_the_origin_is_read_back_and_another_maker_s_row_comes_from_its_line(tmp_path):
    row = labelled("p", "x", label=True)
    assert read(tmp_path, to_trl(row), "kto") == [row]
    stored = json.loads(json.dumps(to_trl(dialogue((1,)))))
    assert read_origin(stored["origin"]) == ORIGIN
    assert read_origin({"url": "x"}) is read_origin(None) is read_origin("x") is None
    with pytest.raises(ValueError, match=r"origin\.nodes must be a list"):
        read_origin({"run": "r", "task_id": "t", "nodes": 1})
    (other,) = read(tmp_path, to_trl(row) | {"origin": {"url": "x"}}, "kto")
    assert (other.origin.run, other.origin.task_id) == ("rows.jsonl:1", "rows.jsonl:1")
