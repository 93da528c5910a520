"""An agent that repeats a file: the right answer at the right time, or why there is none."""

import asyncio

import pytest
from mt_bench.conftest import jsonl

from drl.agent.answers import AnswersAgent
from drl.agent.base import Situation
from drl.errors import ConfigError, DialogueError
from drl.llm.base import NoLLM
from drl.types import Place, Role, Toolbox, Turn

ROWS = [
    {"question_id": 1, "choices": [{"turns": ["old", "old"]}]},
    {"question_id": 1, "choices": [{"turns": ["one", "two"]}, {"turns": ["eins", "zwei"]}]},
    {"question_id": 2, "choices": [{"turns": ["ERROR", "$ERROR$"]}]},
]


@pytest.fixture
def agent(tmp_path) -> AnswersAgent:
    (tmp_path / "model.jsonl").write_text(jsonl(ROWS))
    return AnswersAgent(path=str(tmp_path / "model.jsonl"))


def say(agent: AnswersAgent, task: str, *, turn: int = 0, trial: int = 0) -> str | None:
    history = (Turn(Role.USER, "?"), Turn(Role.AGENT, "x")) * turn + (Turn(Role.USER, "?"),)
    place = Place(task, trial, None)
    situation = Situation(history, (), Toolbox(()), seed=0, place=place)
    return asyncio.run(agent.act(situation, NoLLM("llm"))).reply


def test_it_says_the_answers_in_order_and_of_two_lines_the_last(agent):
    assert [say(agent, "1", turn=turn) for turn in (0, 1)] == ["one", "two"]


def test_a_trial_takes_the_choice_of_its_number(agent):
    assert [say(agent, "1", turn=turn, trial=1) for turn in (0, 1)] == ["eins", "zwei"]
    with pytest.raises(ConfigError, match=r"has 2 choices .* lower trainer\.trials"):
        say(agent, "1", trial=2)


def test_a_question_that_is_missing_is_told(agent):
    with pytest.raises(ConfigError, match="no answer to question 7"):
        say(agent, "7")


def test_what_failed_when_it_was_made_is_no_answer(agent):
    for turn in (0, 1):
        with pytest.raises(DialogueError, match="in place of an answer"):
            say(agent, "2", turn=turn)
    with pytest.raises(DialogueError, match="has 2 turns for 1, not more"):
        say(agent, "1", turn=2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no answer"),
        ("{", ":1: is not JSON"),
        ("3", ":1: is no JSON object"),
        ('{"question_id": true}', "question_id is True"),
        ('{"question_id": 1, "choices": []}', "choices is"),
        ('{"question_id": 1, "choices": [{"turns": [1]}]}', "a choice is"),
        ('{"question_id": 1, "choices": ["x"]}', "a choice is"),
    ],
)
def test_a_file_of_another_form_is_refused_at_once(tmp_path, text, message):
    (tmp_path / "model.jsonl").write_text(text)
    with pytest.raises(ConfigError, match=message):
        AnswersAgent(path=str(tmp_path / "model.jsonl"))


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    (tmp_path / "model.jsonl").write_bytes(b"\xff")
    for name in ("model.jsonl", "nowhere.jsonl"):
        with pytest.raises(ConfigError, match=r"agent\.path=.*cannot be read"):
            AnswersAgent(path=str(tmp_path / name))
