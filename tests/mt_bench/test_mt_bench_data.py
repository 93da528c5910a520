"""Where MT-Bench comes from: the published archive, its zip, or a user's folder of FastChat."""

import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from drl.domains.mt_bench import store, world
from drl.domains.mt_bench.fetch import fetch, fetched, is_fetched
from drl.domains.mt_bench.questions import TEMPERATURES, WITH_REFERENCE, Question
from drl.domains.mt_bench.source import read_files
from drl.errors import DataError

DATA = Path(os.environ.get("DRL_DATA", "data"))


def test_a_folder_of_fastchat_is_read_from_any_level(fastchat: Path, tmp_path: Path):
    whole = read_files(fastchat)
    assert whole == read_files(fastchat / "fastchat" / "llm_judge")
    assert whole == read_files(fastchat / "fastchat" / "llm_judge" / "data")
    loaded = world.build(whole, "x")
    assert list(loaded.questions) == ["3", "1", "2"]
    assert loaded.questions["3"] == Question(3, "math", ("2+2?", "And 3+3?"), ("four", "six"))
    assert loaded.questions["1"].references == ()
    assert loaded.prompts["pair-v2"].system == "Judge by pair-v2."


def test_other_content_is_data_of_another_version_which_says_so(fastchat: Path, tmp_path: Path):
    fetch(tmp_path / "one", fastchat)
    first = world.load(tmp_path / "one").version
    assert first.startswith("mt_bench-1+")
    question_file = fastchat / "fastchat/llm_judge/data/mt_bench/question.jsonl"
    question_file.write_text(question_file.read_text().replace("2+2", "2+1"))
    fetch(tmp_path / "two", fastchat)
    assert world.load(tmp_path / "two").version not in (first, store.FORMAT)


def test_what_is_there_is_not_built_again(fastchat: Path, tmp_path: Path):
    place = fetch(tmp_path, fastchat)
    before = (place / "manifest.json").stat().st_mtime_ns
    fetch(tmp_path, fastchat)
    fetch(tmp_path)
    assert (place / "manifest.json").stat().st_mtime_ns == before
    assert is_fetched(tmp_path)


def test_a_source_that_holds_something_else_is_not_passed_over(fastchat: Path, tmp_path: Path):
    fetch(tmp_path, fastchat)
    question_file = fastchat / "fastchat/llm_judge/data/mt_bench/question.jsonl"
    question_file.write_text(question_file.read_text().replace("2+2", "2+1"))
    with pytest.raises(DataError, match="holds another MT-Bench"):
        fetch(tmp_path, fastchat)


def test_a_damaged_copy_is_told_and_built_anew(fastchat: Path, tmp_path: Path):
    place = fetch(tmp_path, fastchat)
    packed = place / "question.jsonl.gz"
    packed.write_bytes(packed.read_bytes()[:-1] + b"x")
    with pytest.raises(DataError, match="corrupt"):
        store.read(place)
    assert not is_fetched(tmp_path)
    fetch(tmp_path, fastchat)
    assert is_fetched(tmp_path)


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("mt_bench/question.jsonl", "{", "question.jsonl:1: is not JSON"),
        ("mt_bench/question.jsonl", "[]", "question.jsonl:1: is no JSON object"),
        ("mt_bench/question.jsonl", '{"question_id": "x"}', "question_id is 'x'"),
        ("mt_bench/question.jsonl", '{"question_id": 1}', "category is None"),
        ("mt_bench/question.jsonl", '{"question_id": 1, "category": "a", "turns": [1]}', "turns"),
        ("mt_bench/question.jsonl", '{"question_id": 1, "category": "a", "turns": []}', "empty"),
        ("mt_bench/question.jsonl", "", "is empty"),
        ("judge_prompts.jsonl", '{"name": "x"}', "system_prompt is None"),
        ("mt_bench/reference_answer/gpt-4.jsonl", '{"question_id": 3}', "choices is None"),
        (
            "mt_bench/reference_answer/gpt-4.jsonl",
            '{"question_id": 3, "choices": [{"turns": ["four"]}]}',
            "2 turns have 1 references",
        ),
    ],
)
def test_files_of_another_form_are_refused_with_the_line(fastchat, tmp_path, file, text, message):
    (fastchat / "fastchat/llm_judge/data" / file).write_text(text)
    with pytest.raises(DataError, match=message):
        fetch(tmp_path, fastchat)
    assert not is_fetched(tmp_path)


def test_a_question_that_stands_there_twice_is_refused(fastchat: Path, tmp_path: Path):
    question_file = fastchat / "fastchat/llm_judge/data/mt_bench/question.jsonl"
    question_file.write_text(question_file.read_text() * 2)
    with pytest.raises(DataError, match="question 3 stands there twice"):
        fetch(tmp_path, fastchat)


@pytest.mark.parametrize("made", ["empty folder", "nothing", "text", "zip", "tar"])
def test_what_is_no_source_is_refused_with_a_remedy(tmp_path: Path, made: str):
    path = tmp_path / "source"
    if made == "empty folder":
        path.mkdir()
    elif made == "text":
        path.write_text("hello")
    elif made == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a.txt", "a")
    elif made == "tar":
        with tarfile.open(path, "w:gz") as archive:
            archive.addfile(tarfile.TarInfo("a"), io.BytesIO(b""))
    with pytest.raises(DataError, match="drl data mt_bench --from PATH"):
        fetch(tmp_path, path)


def test_a_zip_with_other_files_than_the_published_ones_is_refused(fastchat, tmp_path: Path):
    path = tmp_path / "mtbencheval.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(fastchat.rglob("*.jsonl")):
            archive.write(file, f"mtbencheval/{file.relative_to(fastchat.parent)}")
    with pytest.raises(DataError, match=r"question\.jsonl in .* has sha256"):
        fetch(tmp_path, path)


def test_categories_have_the_temperatures_of_fastchat():
    warm = {name for name, temperature in TEMPERATURES.items() if temperature == 0.7}
    assert warm == {"writing", "roleplay"}
    assert Question(1, "stem", ("?",)).temperature == 0.1
    assert Question(1, "math", ("?",)).temperature == 0.0
    assert Question(1, "poems", ("?",)).temperature == 0.7
    assert {"math", "reasoning", "coding"} < WITH_REFERENCE


def test_our_own_questions_can_be_checked_by_their_words():
    loaded = world.own()
    assert list(loaded.questions) == [str(number) for number in range(1, 13)]
    assert len({question.category for question in loaded.questions.values()}) == 6
    for question in loaded.questions.values():
        assert len(question.turns) == len(question.references) == 2
        assert all(question.turns)
        assert all(question.references)


@pytest.mark.slow
def test_the_published_data_comes_from_the_archive_and_nothing_in_it_is_run(tmp_path: Path):
    loaded = fetched(DATA)
    assert loaded.version == store.FORMAT
    counts: dict[str, int] = {}
    for question in loaded.questions.values():
        counts[question.category] = counts.get(question.category, 0) + 1
    assert counts == dict.fromkeys(TEMPERATURES, 10)
    assert [int(name) for name in loaded.questions] == list(range(81, 161))
    known = [name for name, question in loaded.questions.items() if question.references]
    assert [int(name) for name in known] == list(range(101, 131))
    assert len(loaded.prompts) == 8
    kept = store.read(DATA / store.FOLDER).texts
    assert {
        name: hashlib.sha256(text.encode()).hexdigest() for name, text in kept.items()
    } == store.PUBLISHED_SHA256
    assert sum(file.stat().st_size for file in (DATA / store.FOLDER).iterdir()) < 50_000


def test_the_command_says_where_the_data_is(fastchat: Path, tmp_path: Path):
    program = str(Path(sys.executable).with_name("drl"))
    command = [program, "data", "mt_bench", "--from", str(fastchat), "--root", str(tmp_path / "d")]
    first = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    again = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert first.startswith("MT-Bench is in ")
    assert again == first.rstrip("\n") + " (it was there already)\n"
    assert json.loads((tmp_path / "d/mt_bench/manifest.json").read_text())["format"] == "mt_bench-1"
