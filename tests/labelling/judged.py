"""Sessions and judges made for tests of labelling."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from scripted_llm import ScriptedLLM

from drl.labelling.settings import LabelSettings
from drl.llm.base import Request
from drl.turn_reward.session import Reaction, Session, SessionTurn
from drl.types import JSON, Role

_ASKED = re.compile(r"in this order: ([\d, ]+)\.")


def settings(**changes: object) -> LabelSettings:
    """One sample of each part of 40 turns, without cues."""
    fields: dict[str, object] = {
        "cues": False,
        "question": None,
        "samples": 1,
        "temperature": 0.0,
        "max_tokens": 1000,
        "window": 40,
        "overlap": 8,
        "retries": 1,
        "rule": "affine",
        "spread": 1.0,
        "sharpness": 2.0,
        "concurrency": 4,
    }
    return LabelSettings(**(fields | changes))  # pyright: ignore[reportArgumentType]


def session(
    name: str = "s",
    num_turns: int = 6,
    *,
    score: float | None = 7.0,
    split: str = "train",
    cues: dict[str, JSON] | None = None,
) -> Session:
    """Listener and agent by turns, the listener first; turn k of s says "s words k"."""
    turns = [
        SessionTurn(
            number=place,
            role=Role.AGENT if place % 2 else Role.USER,
            text=f"{name} words {place + 1}",
            start=float(place),
            stop=place + 0.9,
            reaction=Reaction(1.0, cues or {}) if place % 2 else None,
        )
        for place in range(num_turns)
    ]
    return Session(name, name, split, tuple(turns), score)


def asked_turns(request: Request) -> list[int]:
    """The numbers of the turns that a prompt wants marked."""
    found = _ASKED.search(request.messages[0].content)
    assert found is not None
    return [int(number) for number in found[1].split(", ")]


def reply(marks: dict[int, float], summary: str = "") -> str:
    """A right reply."""
    entries = [{"turn": turn, "mark": mark, "why": "so"} for turn, mark in marks.items()]
    return json.dumps({"marks": entries, "summary": summary})


def judge_by(mark: Callable[[int], float], summary: str = "They talked.") -> ScriptedLLM:
    """A model that marks each turn by its number."""
    return ScriptedLLM(
        lambda request, seed: reply({turn: mark(turn) for turn in asked_turns(request)}, summary)
    )
