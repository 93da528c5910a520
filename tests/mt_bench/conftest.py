"""A miniature of FastChat's files with words of our own, and answers and judges to go with it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from drl.domains.mt_bench.source import read_files
from drl.domains.mt_bench.store import FOLDER, write

QUESTIONS = [
    {"question_id": 3, "category": "math", "turns": ["2+2?", "And 3+3?"], "reference": ["unused"]},
    {"question_id": 1, "category": "writing", "turns": ["Say {this}.", "Say it again."]},
    {"question_id": 2, "category": "poems", "turns": ["A line.", "Another."]},
]
REFERENCES = [{"question_id": 3, "choices": [{"index": 0, "turns": ["four", "six"]}]}]
ONE = "Q {question} A {answer}"
TWO = "Q {question_1} A {answer_1} Q {question_2} A {answer_2}"
PAIR = "Q {question} A {answer_a} B {answer_b}"
PAIRS = "Q {question_2} A {answer_a_1}, {answer_a_2} B {answer_b_1}, {answer_b_2}"
TEMPLATES = {
    "single-v1": ONE,
    "single-v1-multi-turn": TWO,
    "single-math-v1": f"R {{ref_answer_1}} {ONE}",
    "single-math-v1-multi-turn": f"R {{ref_answer_1}}, {{ref_answer_2}} {TWO}",
    "pair-v2": PAIR,
    "pair-v2-multi-turn": PAIRS,
    "pair-math-v1": f"R {{ref_answer_1}} {PAIR}",
    "pair-math-v1-multi-turn": f"R {{ref_answer_1}}, {{ref_answer_2}} {PAIRS}",
}


def prompts() -> list[dict[str, str]]:
    """The prompts of the miniature, in the form of their file."""
    return [
        {
            "name": name,
            "type": "pairwise" if name.startswith("pair") else "single",
            "system_prompt": f"Judge by {name}.",
            "prompt_template": template,
            "description": "",
            "category": "general",
            "output_format": "[[A]]" if name.startswith("pair") else "[[rating]]",
        }
        for name, template in TEMPLATES.items()
    ]


def jsonl(rows: list) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def fastchat(tmp_path: Path) -> Path:
    """A folder laid out like FastChat's judge."""
    data = tmp_path / "FastChat" / "fastchat" / "llm_judge" / "data"
    (data / "mt_bench" / "reference_answer").mkdir(parents=True)
    (data / "mt_bench" / "question.jsonl").write_text(jsonl(QUESTIONS))
    (data / "mt_bench" / "reference_answer" / "gpt-4.jsonl").write_text(jsonl(REFERENCES))
    (data / "judge_prompts.jsonl").write_text(jsonl(prompts()))
    return tmp_path / "FastChat"


@pytest.fixture
def root(tmp_path: Path, fastchat: Path) -> Path:
    """A data folder that holds the miniature."""
    place = tmp_path / "data"
    (place / FOLDER).mkdir(parents=True)
    write(place / FOLDER, read_files(fastchat))
    return place


@pytest.fixture
def answers(tmp_path: Path) -> Callable[..., Path]:
    """Writes a file of answers: question id -> choices of turns."""

    def write_answers(choices: dict[int, list[list[str]]], name: str = "baseline") -> Path:
        rows = [
            {
                "question_id": number,
                "answer_id": "x",
                "model_id": "ignored",
                "choices": [{"index": i, "turns": turns} for i, turns in enumerate(each)],
                "tstamp": 1.5,
            }
            for number, each in choices.items()
        ]
        path = tmp_path / f"{name}.jsonl"
        path.write_text(jsonl(rows))
        return path

    return write_answers
