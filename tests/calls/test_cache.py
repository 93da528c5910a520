"""Kept answers come back as they were, and a cache that is broken says so."""

import asyncio
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from calls.answering import AnsweringLLM, board, request, texts
from hypothesis import given, settings
from hypothesis import strategies as st

from drl.calls.cache import FILE_NAME, Kept, ResponseCache
from drl.errors import DataError, RunError
from drl.llm.base import Completion, ToolUse, Usage
from drl.types import Sampled

ROOT = Path(__file__).parents[2]
WRITABLE = st.text(st.characters(exclude_categories=["Cs"]))
"""All that can be encoded, control characters and NUL included."""
COMPLETIONS = st.builds(
    Completion,
    WRITABLE,
    st.sampled_from(["stop", "length", "tool_calls", "content_filter"]),
    st.lists(st.builds(ToolUse, WRITABLE, WRITABLE, WRITABLE), max_size=2).map(tuple),
    st.none()
    | st.builds(
        Sampled,
        st.lists(st.integers(0, 2**20), max_size=3).map(tuple),
        st.lists(st.integers(0, 2**20), max_size=3).map(tuple),
        st.lists(st.floats(max_value=0, allow_nan=False, allow_infinity=False), max_size=3).map(
            tuple
        ),
    ),
)


def kept(completion: Completion, *, began: float = 1.25) -> Kept:
    return Kept(completion, 2, Usage(10, 4, 5), began, 0.5)


@settings(max_examples=200)
@given(st.lists(COMPLETIONS, min_size=1, max_size=3))
def test_whatever_can_be_encoded_comes_back_as_it_was(completions):
    with TemporaryDirectory() as folder, ResponseCache(Path(folder) / FILE_NAME) as cache:
        keys = [bytes([number]) for number in range(len(completions))]
        cache.put(zip(keys, map(kept, completions), strict=True))
        found = cache.get([*keys, b"another"])
    assert found == [*map(kept, completions), None]


def test_of_equal_keys_the_first_stays(tmp_path):
    with ResponseCache(tmp_path / FILE_NAME) as cache:
        cache.put([(b"k", kept(Completion("first", "stop")))])
        cache.put([(b"k", kept(Completion("second", "stop")))])
        (found,) = cache.get([b"k"])
    assert found is not None
    assert found.completion.text == "first"


def test_without_a_path_nothing_is_kept():
    with ResponseCache(None) as cache:
        cache.put([(b"k", kept(Completion("x", "stop")))])
        assert cache.get([b"k"]) == [None]


def test_a_file_that_is_no_cache_is_one_clear_error(tmp_path):
    file = tmp_path / "cache" / FILE_NAME
    file.parent.mkdir()
    file.write_bytes(b"This is not what it should be. " * 200)

    async def ask():
        with board(tmp_path) as open_board:
            open_board.line(AnsweringLLM(), asyncio.Semaphore(1))

    with pytest.raises(RunError, match=r"the response cache cannot be used .*calls\.cache=false"):
        asyncio.run(ask())


def test_a_cache_that_breaks_while_it_is_used_is_one_clear_error(tmp_path):
    with ResponseCache(tmp_path / FILE_NAME) as cache:
        cache.put(
            [
                (bytes([n, m]), kept(Completion("x" * 500, "stop")))
                for n in range(20)
                for m in range(20)
            ]
        )
    file = tmp_path / FILE_NAME
    size = file.stat().st_size
    file.write_bytes(file.read_bytes()[:4096] + b"\xa5" * (size - 4096))

    def use():
        with ResponseCache(file) as cache:
            cache.get([b"\x01\x01"])

    with pytest.raises(RunError, match="the response cache cannot be used"):
        use()


def test_an_entry_that_cannot_be_read_is_one_clear_error(tmp_path):
    with ResponseCache(tmp_path / FILE_NAME) as cache:
        assert cache._db is not None
        cache._db.execute("INSERT INTO samples VALUES (?, ?)", (b"k", b"{}"))
        with pytest.raises(DataError, match="an answer in it cannot be read; remove the file"):
            cache.get([b"k"])


def test_processes_share_a_cache_while_both_write(tmp_path):
    script = (
        "import sys; from pathlib import Path; from drl.calls.cache import Kept, ResponseCache;"
        "from drl.llm.base import Completion, Usage\n"
        "with ResponseCache(Path(sys.argv[1])) as cache:\n"
        "    for n in range(150):\n"
        "        one = Kept(Completion(sys.argv[2], 'stop'), 1, Usage(1, 0, 1), 0.0, 0.0)\n"
        "        cache.put([(b'%d' % n, one), (sys.argv[2].encode() + b'%d' % n, one)])\n"
    )
    file = tmp_path / FILE_NAME
    running = [
        subprocess.Popen([sys.executable, "-c", script, str(file), name], cwd=ROOT)
        for name in ("a", "b")
    ]
    assert [process.wait(timeout=60) for process in running] == [0, 0]
    with ResponseCache(file) as cache:
        keys = [prefix + b"%d" % n for prefix in (b"", b"a", b"b") for n in range(150)]
        assert None not in cache.get(keys)


def test_a_second_run_asks_nothing_that_the_first_was_answered(tmp_path):
    def play(folder):
        llm = AnsweringLLM()

        async def ask():
            with board(folder, cache="../cache") as open_board:
                return await texts(open_board.line(llm, asyncio.Semaphore(1)), request("x", 1, 2))

        folder.mkdir()
        return asyncio.run(ask()), len(llm.asked)

    assert play(tmp_path / "one") == (["x/1", "x/2"], 1)
    assert play(tmp_path / "two") == (["x/1", "x/2"], 0)
