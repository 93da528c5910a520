"""Prompts from a list, a text file and a JSONL file, and what is said of those that are wrong."""

import json
import re
from pathlib import Path

import pytest

from drl.dataset.prompts import PromptsDataset
from drl.errors import ConfigError, DataError


def prompts(source: object, **settings: object) -> PromptsDataset:
    """From a list, or from a file."""
    given = {"prompts": None, "path": str(source)}
    if not isinstance(source, Path):
        given = {"prompts": source, "path": None}
    chosen = {"split": None, "ids": None, "shuffle": None, "start": 0, "limit": None}
    chosen |= {"shard": 0, "num_shards": 1}
    return PromptsDataset(**given | chosen | settings)  # type: ignore[arg-type]


@pytest.fixture
def write(tmp_path):
    """Writes lines (or rows) into a file."""

    def file(*lines: object, name: str = "own.jsonl") -> Path:
        path = tmp_path / name
        texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        path.write_bytes("\n".join(texts).encode())
        return path

    return file


def said(dataset: PromptsDataset) -> list[str]:
    return [task.brief.human_turns[0] for task in dataset.load()]


def ids(dataset: PromptsDataset) -> list[str]:
    return [task.id for task in dataset.load()]


def test_a_list_is_a_task_for_each_prompt_which_the_customer_says():
    first, second = prompts(["One day", "The moon "]).load()
    assert (first.id, first.brief.human_turns, first.goals) == ("0", ("One day",), ())
    assert (second.id, second.brief.human_turns) == ("1", ("The moon ",))
    assert second.world == {"prompt": "The moon "}


def test_a_text_file_holds_one_prompt_a_line_with_its_white_space(write):
    assert said(prompts(write("One day ", "", "  The moon\r", " ", name="own.txt"))) == [
        "One day ",
        "  The moon",
    ]


def test_all_keys_of_a_row_are_carried_along_unchanged(write):
    rows = [{"prompt": "One day", "wanted": ["a", {"b": None}], "input": 3}, {"input": "The moon"}]
    first, second = prompts(write(*rows)).load()
    assert (first.brief.human_turns, first.world) == (("One day",), rows[0])
    assert (second.brief.human_turns, second.world) == (("The moon",), rows[1])


def test_ids_and_splits_may_be_named_and_are_numbers_and_all_otherwise(write):
    rows = [{"prompt": "a"}, {"prompt": "b", "id": "second"}, {"prompt": "c", "split": "val"}]
    dataset = prompts(write(*rows))
    assert [(task.id, task.split) for task in dataset.load()] == [
        ("0", "all"),
        ("second", "all"),
        ("2", "val"),
    ]
    assert ids(prompts(write(*rows), split="val")) == ["2"]
    assert ids(prompts(write(*rows), ids=["2", "0"])) == ["0", "2"]


def test_an_id_stays_with_its_prompt_in_whatever_order():
    letters = list("abcdef")
    shuffled = prompts(letters, shuffle=1)
    assert ids(shuffled) != [str(number) for number in range(6)]
    assert said(shuffled) == [letters[int(name)] for name in ids(shuffled)]
    assert said(prompts(letters, start=1, limit=4, shard=1, num_shards=2)) == ["c", "e"]


def test_the_version_follows_the_prompts(write):
    version = prompts(["a", "b"]).version
    assert re.fullmatch(r"prompts-[0-9a-f]{8}", version)
    assert prompts(["a", "c"]).version != version
    before = prompts(write("a", name="own.txt")).version
    assert before.startswith("own.txt-")
    assert prompts(write("b", name="own.txt")).version != before


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], r"own\.jsonl: holds no prompt; write one a line"),
        ([" ", ""], r"own\.jsonl: holds no prompt"),
        (["{"], r"own\.jsonl:1: is not JSON .*write one prompt a line, as one JSON object"),
        (['"One day"'], r"own\.jsonl:1: is no JSON object"),
        ([{"text": "a", "n": 1}], r":1: has neither `prompt` nor `input`, only text, n; name"),
        ([{}], r":1: has neither .*only nothing"),
        ([{"prompt": "a"}, {"prompt": ""}], r":2: prompt is '', and must be a text that is not em"),
        ([{"prompt": ["a"]}], r":1: prompt is \['a'\]"),
        ([{"input": None}], r":1: input is None"),
        ([{"prompt": "a", "id": 7}], r":1: id is 7, and must be a text"),
        ([{"prompt": "a", "split": ""}], r":1: split is ''"),
        (
            [{"prompt": "a", "id": "x"}] * 2,
            r":2: id x is taken by .*:1; every prompt needs its own",
        ),
        (
            [{"prompt": "a", "id": "1"}, {"prompt": "b"}],
            r":2: id 1 is taken by .*without has its n",
        ),
        ([{"prompt": "a\ud800"}], r":1: prompt holds half a character"),
    ],
)
def test_a_file_that_is_not_as_it_should_be_is_refused_with_line_and_remedy(write, lines, message):
    with pytest.raises(DataError, match=message) as caught:
        prompts(write(*lines)).load()
    assert "\n" not in str(caught.value)


def test_an_empty_prompt_in_a_list_is_refused():
    with pytest.raises(DataError, match=r"dataset\.prompts\[1\]: prompt is ''"):
        prompts(["a", ""]).load()


@pytest.mark.parametrize(
    ("source", "settings", "message"),
    [
        (None, {}, r"dataset\.prompts and dataset\.path are both null; give either a list"),
        (["a"], {"path": "own.txt"}, r"are both set; give either"),
        ([], {}, r"dataset\.prompts=\[\] holds no prompt; write at least one"),
        (Path("own.csv"), {}, r"dataset\.path=own\.csv ends in neither \.txt .* nor \.jsonl"),
        (Path("gone.txt"), {}, r"dataset\.path=gone\.txt is no file \(seen from"),
        (["a"], {"limit": 0}, r"dataset\.limit=0 chooses no task"),
    ],
)
def test_settings_without_prompts_are_refused_at_once(source, settings, message):
    with pytest.raises(ConfigError, match=message):
        prompts(source, **settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"ids": ["z"]}, r"dataset\.ids=z is no prompt of the split; ids are 0, 1"),
        ({"ids": []}, r"dataset\.ids=\[\] leaves no prompt"),
        ({"split": "val"}, r"dataset\.split=val has no prompt; the splits are all \(2\), and null"),
        ({"start": 2}, r"dataset\.start=2 is past the last"),
    ],
)
def test_a_choice_without_prompts_is_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        prompts(["a", "b"], **settings).load()
