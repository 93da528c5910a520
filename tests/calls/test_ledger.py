"""The ledger outlives its process, and says so when it cannot be trusted."""

import pytest

from drl.calls.ledger import FILE_NAME, Entry, Ledger, read_entries
from drl.errors import RunError

CALL = Entry("agent", "t", 0, None, "m", 2, 100, 40, 10, 1.5, 0.25, 1, began=5.0, keys=("a", "b"))


def written(folder, *entries):
    with Ledger(folder / FILE_NAME) as ledger:
        for entry in entries:
            ledger.write(entry)
        return ledger.to_json()


def test_what_earlier_starts_spent_is_counted_in(tmp_path):
    before = written(tmp_path, CALL, CALL)
    row = before["agent: m"]
    assert (row["requests"], row["samples"], row["retries"]) == (2, 4, 2)
    assert (row["tokens_in"], row["tokens_cached"], row["tokens_out"]) == (200, 80, 20)
    assert (row["seconds"], row["usd"]) == (3.0, 0.5)
    with Ledger(tmp_path / FILE_NAME) as again:
        assert again.to_json() == before
        assert again.spent_tokens == 220
        assert again.spent_usd == 0.5
    assert list(read_entries(tmp_path / FILE_NAME)) == [CALL, CALL]


def test_samples_from_the_cache_are_counted_apart_and_cost_nothing(tmp_path):
    spared = Entry("agent", "t", 0, None, "m", 3, 100, 0, 10, 1.0, from_cache=True)
    row = written(tmp_path, CALL, spared)["agent: m"]
    assert (row["requests"], row["samples"], row["cached_samples"]) == (1, 2, 3)
    assert (row["tokens_in"], row["seconds"], row["usd"]) == (100, 1.5, 0.25)


def test_one_unknown_price_makes_the_sum_unknown_and_not_a_number(tmp_path):
    unknown = Entry("agent", "t", 0, None, "m", 1, 10, 0, 10, 1.0, usd=None)
    assert written(tmp_path, CALL, unknown)["agent: m"]["usd"] == "unknown"
    assert written(tmp_path, CALL)["agent: m"]["usd"] == "unknown"


def test_purposes_and_models_are_added_up_apart(tmp_path):
    rows = written(
        tmp_path, CALL, Entry("user", "t", 0, 1, "m", 1, usd=None), Entry("user", "t", 0, 1, "n", 1)
    )
    assert {name: row["usd"] for name, row in rows.items()} == {
        "agent: m": 0.25,
        "user: m": "unknown",
        "user: n": 0.0,
    }


def test_a_line_that_was_cut_is_dropped(tmp_path):
    written(tmp_path, CALL, CALL)
    file = tmp_path / FILE_NAME
    file.write_bytes(file.read_bytes()[:-9])
    assert written(tmp_path, CALL)["agent: m"]["requests"] == 2
    assert len(list(read_entries(file))) == 2


@pytest.mark.parametrize(
    "damage", [b"{}", b"[]", b"null", b"not json", b"\xff\xfe", b'{"usd":"x"}']
)
def test_a_damaged_line_is_one_clear_error(tmp_path, damage):
    written(tmp_path, CALL)
    file = tmp_path / FILE_NAME
    file.write_bytes(damage + b"\n" + file.read_bytes())
    with pytest.raises(RunError, match=r"calls\.jsonl:1: not a line of a ledger .*move the file"):
        written(tmp_path)


def test_a_ledger_that_cannot_be_written_is_one_clear_error(tmp_path):
    with pytest.raises(RunError, match="cannot be written"):
        written(tmp_path / "missing")
