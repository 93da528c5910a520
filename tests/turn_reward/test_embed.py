"""Embeddings of sessions on disk: made once, found again, whole after a kill, small in memory."""

import json
import os
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from drl.errors import DataError
from drl.turn_reward.embed import embed
from drl.types import Role
from tests.turn_reward.counting_encoder import CountingEncoder, session
from tests.turn_reward.encoders import FORMAT, save_bert, settings

SESSIONS = [session("one", 6), session("two", 5), session("three", 41, first=Role.AGENT)]
NUM_TURNS = 3 + 2 + 21


def made(sessions, encoder, root, version="1", text_format=FORMAT):
    return embed(sessions, encoder, text_format, root, version)


def texts_of(each):
    utterances = each.utterances
    return [FORMAT.render(utterances, place) for place in each.agent_turns]


def check(embedded, sessions):
    """Every session has the rows that an encoder gives its texts."""
    for each in sessions:
        np.testing.assert_array_equal(
            embedded.of(each.id), CountingEncoder().embed(texts_of(each)), each.id
        )


def the_store(root):
    (folder,) = (root / "embeddings").iterdir()
    return folder


def test_every_agent_turn_of_a_session_has_its_row_in_order(tmp_path):
    encoder = CountingEncoder()
    embedded = made(SESSIONS, encoder, tmp_path)
    check(embedded, SESSIONS)
    assert embedded.matrix.shape == (NUM_TURNS, 4)
    assert embedded.of("two").shape == (2, 4)
    assert len(encoder.asked) == NUM_TURNS


def test_what_is_there_is_not_made_again(tmp_path):
    made(SESSIONS, CountingEncoder(), tmp_path)
    again = CountingEncoder(stop_at=0)
    check(made(SESSIONS, again, tmp_path), SESSIONS)
    check(made(SESSIONS[1:2], again, tmp_path), SESSIONS[1:2])
    more = CountingEncoder()
    longer = [session("four", 4), *reversed(SESSIONS)]
    check(made(longer, more, tmp_path), longer)
    assert len(more.asked) == 2


def test_a_session_with_other_words_is_another_one(tmp_path):
    made(SESSIONS, CountingEncoder(), tmp_path)
    turns = SESSIONS[0].turns
    other = [replace(SESSIONS[0], turns=(replace(turns[0], text="no"), *turns[1:]))]
    check(made(other, CountingEncoder(), tmp_path), other)


def test_scores_and_times_of_a_session_make_no_other_one(tmp_path):
    made(SESSIONS, CountingEncoder(), tmp_path)
    scored = [replace(each, score=1.0, split="test") for each in SESSIONS]
    check(made(scored, CountingEncoder(stop_at=0), tmp_path), scored)


@pytest.mark.parametrize(
    ("change", "value"),
    [("encoder", CountingEncoder(name="b")), ("version", "2")],
)
def test_another_encoder_or_version_has_a_folder_of_its_own(tmp_path, change, value):
    given = {"sessions": SESSIONS, "encoder": CountingEncoder(), "root": tmp_path, "version": "1"}
    made(**given)
    made(**{**given, change: value})
    assert len(list((tmp_path / "embeddings").iterdir())) == 2


def test_another_text_format_has_a_folder_of_its_own(tmp_path):
    made(SESSIONS, CountingEncoder(), tmp_path)
    short = replace(FORMAT, max_turns=1, kept_turns=1)
    embedded = made(SESSIONS, CountingEncoder(), tmp_path, text_format=short)
    assert len(list((tmp_path / "embeddings").iterdir())) == 2
    texts = [short.render(SESSIONS[0].utterances, place) for place in SESSIONS[0].agent_turns]
    np.testing.assert_array_equal(embedded.of("one"), CountingEncoder().embed(texts))


@pytest.mark.parametrize("stop_at", [0, 300, 512, 700])
def test_a_killed_run_goes_on_where_it_was(tmp_path, stop_at):
    sessions = [session(str(number), 200) for number in range(10)]  # 1000 turns of the agents
    first = CountingEncoder(stop_at=stop_at)
    with pytest.raises(KeyboardInterrupt):
        made(sessions, first, tmp_path)
    second = CountingEncoder()
    check(made(sessions, second, tmp_path), sessions)
    # sessions are finished three at a time (256 turns or a little more); the rest is made again
    assert len(second.asked) == 1000 - stop_at // 300 * 300


@pytest.mark.parametrize("num_bytes", [1, 16, 17, 200])
def test_rows_that_a_kill_left_without_their_line_are_written_over(tmp_path, num_bytes):
    made(SESSIONS[:1], CountingEncoder(), tmp_path)
    with (the_store(tmp_path) / "rows.bin").open("ab") as rows:
        rows.write(b"\xff" * num_bytes)
    with (the_store(tmp_path) / "sessions.jsonl").open("ab") as lines:
        lines.write(b'{"session": "x", "sta')
    check(made(SESSIONS, CountingEncoder(), tmp_path), SESSIONS)
    size = (the_store(tmp_path) / "rows.bin").stat().st_size
    assert size == NUM_TURNS * 4 * 4  # rows of four float32


def test_a_store_that_lost_rows_is_told(tmp_path):
    made(SESSIONS, CountingEncoder(), tmp_path)
    rows = the_store(tmp_path) / "rows.bin"
    rows.write_bytes(rows.read_bytes()[:-1])
    with pytest.raises(DataError, match="so it was cut; remove"):
        made(SESSIONS, CountingEncoder(), tmp_path)


def test_a_store_that_lost_rows_is_not_filled_up_with_zeros(tmp_path):
    made(SESSIONS[:1], CountingEncoder(), tmp_path)
    rows = the_store(tmp_path) / "rows.bin"
    rows.write_bytes(rows.read_bytes()[:-1])
    with pytest.raises(DataError, match="so it was cut; remove"):
        made(SESSIONS, CountingEncoder(), tmp_path)  # which has more to write there
    assert rows.stat().st_size == 3 * 4 * 4 - 1


def in_old_form(folder):
    """The index as it was before there were checksums."""
    index = folder / "sessions.jsonl"
    told = [json.loads(line) for line in index.read_text().splitlines()]
    keys = ("session", "start", "num_rows")
    index.write_text("".join(json.dumps({key: of[key] for key in keys}) + "\n" for of in told))


def test_a_store_without_checksums_is_read_as_it_is_and_appended_to(tmp_path):
    made(SESSIONS[:2], CountingEncoder(), tmp_path)
    in_old_form(the_store(tmp_path))
    check(made(SESSIONS[:2], CountingEncoder(stop_at=0), tmp_path), SESSIONS[:2])
    check(made(SESSIONS, CountingEncoder(), tmp_path), SESSIONS)


def test_rows_that_are_not_those_written_are_told(tmp_path):
    made(SESSIONS, CountingEncoder(), tmp_path)
    rows = the_store(tmp_path) / "rows.bin"
    data = bytearray(rows.read_bytes())
    data[3 * 4 * 4 + 1] ^= 1  # a bit of the second session's first number
    rows.write_bytes(data)
    with pytest.raises(DataError, match="rows 3 to 5 are not what was written there; remove"):
        made(SESSIONS, CountingEncoder(), tmp_path)
    made(SESSIONS[:1], CountingEncoder(), tmp_path)  # what is not used does not matter


def test_rows_of_an_old_store_that_are_no_numbers_are_told(tmp_path):
    made(SESSIONS, CountingEncoder(), tmp_path)
    in_old_form(the_store(tmp_path))
    rows = the_store(tmp_path) / "rows.bin"
    rows.write_bytes(b"\xff" * rows.stat().st_size)
    with pytest.raises(DataError, match="rows 0 to 3 are no finite numbers; remove"):
        made(SESSIONS, CountingEncoder(), tmp_path)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e6])
def test_numbers_that_cannot_be_stored_are_not_kept(tmp_path, value):
    encoder = SameNumberEncoder(value)
    with pytest.raises(DataError, match=r"not finite as float16; set trainer\.encoder"):
        made(SESSIONS, encoder, tmp_path)
    assert (the_store(tmp_path) / "sessions.jsonl").read_bytes() == b""


class SameNumberEncoder(CountingEncoder):
    """Gives one number all over, in halves."""

    stored_as = "float16"

    def __init__(self, number: float) -> None:
        super().__init__(4)
        self.number = number

    def embed(self, texts):
        return np.full((len(texts), 4), self.number, np.float32)


@pytest.mark.parametrize(
    "line",
    [
        {"session": "x"},
        {"session": "x", "start": -1, "num_rows": 2},
        {"session": "x", "start": 25, "num_rows": 1},  # the last session ends at row 26
        {"session": "x", "start": 26, "num_rows": -1},
        {"session": "x", "start": 27, "num_rows": 1},
    ],
)
def test_an_index_that_cannot_be_right_is_told(tmp_path, line):
    made(SESSIONS, CountingEncoder(), tmp_path)
    with (the_store(tmp_path) / "sessions.jsonl").open("a") as index:
        index.write(json.dumps(line) + "\n")
    with pytest.raises(DataError, match=r"sessions\.jsonl: cannot be read"):
        made(SESSIONS, CountingEncoder(), tmp_path)


def test_a_store_that_has_all_is_not_written_to(tmp_path):
    made(SESSIONS, CountingEncoder(), tmp_path)
    before = {file: file.stat().st_mtime_ns for file in the_store(tmp_path).iterdir()}
    made(SESSIONS, CountingEncoder(), tmp_path)
    assert before == {file: file.stat().st_mtime_ns for file in the_store(tmp_path).iterdir()}
    (the_store(tmp_path) / "about.json").unlink()  # so there is something to write
    made(SESSIONS, CountingEncoder(), tmp_path)
    assert json.loads((the_store(tmp_path) / "about.json").read_text())["data_version"] == "1"


def test_a_run_that_goes_on_embeds_in_the_batches_of_one_that_was_not_ended(tmp_path, monkeypatch):
    sessions = [session(str(number), 200) for number in range(5)]  # chunks of 300 and 200 turns
    whole = CountingEncoder()
    made(sessions, whole, tmp_path / "whole")
    first = CountingEncoder()
    with monkeypatch.context() as patched:
        # the disk is full within the first chunk, after its first session
        patched.setattr("os.write", full_after(1, os.write))
        with pytest.raises(DataError, match="cannot be written"):
            made(sessions, first, tmp_path / "ended")
    second = CountingEncoder()
    check(made(sessions, second, tmp_path / "ended"), sessions)
    assert second.asked == whole.asked


def full_after(num_writes, write):
    left = [num_writes]

    def one(file, data):
        if not left[0]:
            raise OSError(28, "No space left on device")
        left[0] -= 1
        return write(file, data)

    return one


def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "embeddings").write_text("in the way")
    with pytest.raises(DataError, match="cannot be written"):
        made(SESSIONS, CountingEncoder(), tmp_path)


def test_two_sessions_of_one_id_are_refused(tmp_path):
    with pytest.raises(DataError, match="share an id"):
        made([SESSIONS[0], SESSIONS[0]], CountingEncoder(), tmp_path)


def test_a_session_in_which_the_agent_is_silent_has_no_rows(tmp_path):
    silent = [session("quiet", 1)]
    assert made(silent, CountingEncoder(), tmp_path).of("quiet").shape == (0, 4)
    both = [*silent, SESSIONS[0]]
    assert made(both, CountingEncoder(), tmp_path).of("quiet").shape == (0, 4)


def test_two_sessions_in_which_the_same_is_said_share_their_rows(tmp_path):
    twins = [SESSIONS[0], replace(SESSIONS[0], id="twin")]
    encoder = CountingEncoder()
    embedded = made(twins, encoder, tmp_path)
    np.testing.assert_array_equal(embedded.of("one"), embedded.of("twin"))
    assert len(encoder.asked) == 3


def test_memory_does_not_grow_with_the_number_of_sessions(tmp_path):
    # rows of 1 KiB: 400 sessions of 40 agent turns are 16 MB on disk
    sessions = [session(str(number), 80) for number in range(400)]
    made(sessions[:20], CountingEncoder(64), tmp_path / "warm")
    tracemalloc.start()
    embedded = made(sessions, WideEncoder(), tmp_path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert embedded.matrix.nbytes == 400 * 40 * 1024
    assert peak < 4 * 2**20


class WideEncoder(CountingEncoder):
    """Rows of 256 numbers, and no list of what was asked."""

    def __init__(self) -> None:
        super().__init__(256)

    def embed(self, texts):
        return np.ones((len(texts), 256), np.float32)


def test_a_store_keeps_what_a_real_encoder_gives(tmp_path):
    encoder = settings(save_bert(tmp_path / "bert"), stored_as="float16", normalize=True).load()
    embedded = made(SESSIONS, encoder, tmp_path)
    assert embedded.matrix.dtype == np.float16
    for each in SESSIONS:
        fresh = encoder.embed(texts_of(each))
        # halves have 11 bits: another order of sums may move the last of a number below 1
        np.testing.assert_allclose(embedded.of(each.id), fresh, rtol=0, atol=2**-11)
