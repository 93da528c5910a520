"""The questions as tasks: two turns of a customer, a temperature, a category."""

import json
import shutil
from pathlib import Path

import pytest
from mt_bench.conftest import QUESTIONS, REFERENCES, jsonl, prompts

from drl.dataset.mt_bench import MTBenchDataset
from drl.domains.mt_bench.questions import Question
from drl.domains.mt_bench.store import FILES, FOLDER, write
from drl.domains.mt_bench.world import OWN_VERSION
from drl.errors import ConfigError


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / FOLDER).mkdir()
    texts = map(jsonl, (QUESTIONS, prompts(), REFERENCES))
    write(tmp_path / FOLDER, dict(zip(FILES, texts, strict=True)))
    return tmp_path


def dataset(root: Path | str = "nowhere", **changes) -> MTBenchDataset:
    settings = {
        "questions": "published",
        "root": str(root),
        "categories": None,
        "ids": None,
        "shuffle": None,
        "start": 0,
        "limit": None,
        "shard": 0,
        "num_shards": 1,
    }
    return MTBenchDataset(**settings | changes)


def test_a_question_is_a_customer_with_two_turns_at_its_temperature(root):
    math, writing, poems = dataset(root).load()
    assert math.id == "3"
    assert math.brief.human_turns == ("2+2?", "And 3+3?")
    assert math.brief.instructions == ()
    assert math.goals == ()
    assert math.world == Question(3, "math", ("2+2?", "And 3+3?"), ("four", "six"))
    assert math.groups == {"category": "math"}
    assert [task.temperature for task in (math, writing, poems)] == [0.0, 0.7, 0.7]


def test_the_customer_never_sees_a_reference(root):
    for task in dataset(root).load():
        assert "four" not in json.dumps(task.brief.human_turns)


def test_categories_and_ids_choose(root):
    assert [task.id for task in dataset(root, categories=["poems", "math"]).load()] == ["3", "2"]
    assert [task.id for task in dataset(root, ids=["2", "1"]).load()] == ["1", "2"]
    assert [task.id for task in dataset(root, start=1, limit=1).load()] == ["1"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"categories": ["physics"]}, "categories=physics has no question; known: math, writing"),
        ({"categories": ["poems"], "ids": ["3"]}, "ids=3 is no question of those chosen"),
        ({"ids": []}, "leaves no question"),
        ({"start": 9}, "past the last"),
    ],
)
def test_a_choice_that_is_empty_is_refused(root, changes, message):
    with pytest.raises(ConfigError, match=message):
        dataset(root, **changes).load()


def test_no_category_at_all_is_refused_before_data_is_needed():
    with pytest.raises(ConfigError, match="categories="):
        dataset(categories=[])


def test_our_own_questions_need_no_data_and_have_a_version_of_their_own():
    own = dataset(questions="own")
    assert own.version == OWN_VERSION
    assert len(own.load()) == 12
    assert all(task.groups["category"] for task in own.load())


def test_the_version_is_that_of_the_files(root):
    version = dataset(root).version
    assert version.startswith("mt_bench-1+")
    shutil.rmtree(root / FOLDER)
