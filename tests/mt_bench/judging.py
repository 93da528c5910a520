"""A judge that says what a test tells it, and dialogues for it."""

import asyncio
from collections.abc import Sequence
from typing import Any

from scripted import CountingWorld

from drl.domains.mt_bench.questions import Question
from drl.llm.base import LLM
from drl.reward.base import Judgement
from drl.reward.judge import JudgeReward
from drl.types import Brief, Role, Step, Task, Turn

WRITING = Question(1, "writing", ("Say {this}.", "Say it again."))
MATH = Question(3, "math", ("2+2?", "And 3+3?"), ("four", "six"))
WORLD = CountingWorld()


def reward_of(**changes: Any) -> JudgeReward:
    settings: dict[str, Any] = {
        "prompts": "own",
        "root": "data",
        "mode": "single",
        "baseline": None,
        "when": "turn",
        "total": "mean",
        "scale": "points",
        "temperature": 0.0,
        "max_tokens": 2048,
        "retries": 2,
        "retry_temperature": 0.5,
    }
    return JudgeReward(**settings | changes)


def task_of(question: Question | None = WRITING) -> Task:
    number = "x" if question is None else str(question.number)
    return Task(number, "test", Brief(()), (), world=question)


def asks(text: str) -> Turn:
    return Turn(Role.USER, text)


def answers(text: str) -> Turn:
    return Turn(Role.AGENT, text, (Step(text, reply=text),))


def dialogue_of(*answered: str, question: Question = WRITING) -> list[Turn]:
    """The question's turns, each with its answer."""
    pairs = zip(question.turns, answered, strict=False)
    return [turn for asked, text in pairs for turn in (asks(asked), answers(text))]


def judge(reward: JudgeReward, task: Task, dialogue: Sequence[Turn], llm: LLM) -> Judgement:
    """What the last turn earned."""
    return asyncio.run(reward.judge(task, WORLD, dialogue[:-1], dialogue[-1], (), llm))


def grade(reward: JudgeReward, task: Task, dialogue: Sequence[Turn], llm: LLM) -> float | None:
    return asyncio.run(reward.grade(task, WORLD, dialogue, llm))
