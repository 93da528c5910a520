"""Pages of turn reward models that never were, for tests."""

from __future__ import annotations

import math
from pathlib import Path
from random import Random

from drl.report.turn_rewards import (
    MethodFigures,
    Pictures,
    SessionRewards,
    write_turn_reward_report,
)
from drl.turn_reward.session import Reaction, Session, SessionTurn
from drl.types import JSON, Role

METHODS = ("uniform", "rrd", "li", "geli")


def interval(value: float, half: float = 0.05) -> JSON:
    """A measure as `summary.json` holds it."""
    return {"value": value, "low": value - half, "high": value + half, "n": 40}


def session(number: int, num_turns: int = 30, *, text: str = "Well, that sounds {}.") -> Session:
    """Smiles come and go; some are unseen."""
    luck = Random(number)
    words = ("lovely", "fine", "odd", "sad", "like a long story about trains and rain")
    turns = [
        SessionTurn(
            number=place,
            role=Role.AGENT if place % 2 else Role.USER,
            text=text.format(luck.choice(words)),
            start=place * 11.0,
            stop=place * 11.0 + 9,
            reaction=_reaction(luck) if place % 2 else None,
        )
        for place in range(num_turns)
    ]
    return Session(f"conversation-{number}/first", str(number), "test", tuple(turns), 6.0)


def _reaction(luck: Random) -> Reaction:
    label = luck.choice((None, 0.0, 0.0, 1.0, -1.0))
    cues: dict[str, JSON] = {"face": "happiness", "face_share": 0.6, "reply_latency_s": 0.4}
    return Reaction(label, {} if label is None else cues)


def rewarded(of: Session) -> SessionRewards:
    """Each method's rewards are waves of their own length."""
    num = len(of.agent_turns)
    waves = {
        name: [math.sin(turn * (length + 1) / 3) / num for turn in range(num)]
        for length, name in enumerate(METHODS)
    }
    hidden = [math.cos(turn / 2) for turn in range(num)]
    told = {name: 5 + length / 2 for length, name in enumerate(METHODS)}
    return SessionRewards(session=of, rewards=waves, told=told, hidden=hidden)


def figures(name: str, kind: str, level: float, error: float | None = None) -> MethodFigures:
    """Measures that rise with a level from 0 to 1; `error` of scores falls with it unless given."""
    return MethodFigures(
        name=name,
        kind=kind,  # pyright: ignore[reportArgumentType]
        measures={
            "spearman_hidden": interval(level * 0.8),
            "auroc_positive": interval(0.5 + level * 0.3),
            "local_difference_sd": interval(level * 0.9, 0.1),
            "spearman_session": interval(level * 0.6, 0.15),
            "global_mse": interval(1.2 - level * 0.6 if error is None else error, 0.1),
            "constant_mse": interval(1.0, 0.1),
        },
    )


def pictures(num_sessions: int = 3, **changes: object) -> Pictures:
    """Everything there can be."""
    fields: dict[str, object] = {
        "warnings": ["These conversations are generated.", "li does not beat a constant."],
        "methods": [
            figures("uniform", "method", 0.1),
            figures("rrd", "method", 0.55),
            figures("li", "method", 0.6, error=9.0),
            figures("geli", "method", 0.8),
            figures("constant", "baseline", 0.0),
            figures("turn_length", "baseline", 0.2),
            figures("geli shuffled_faces", "control", 0.5),
            figures("oracle", "ceiling", 1.0),
        ],
        "controls": [("geli with shuffled faces: as it must be", True)],
        "calibration": {
            name: [
                {"told": 4 + step / 2, "true": interval(4.5 + step * (0.1 + level / 8), 0.4)}
                for step in range(8)
            ]
            for level, name in enumerate(METHODS)
        }
        | {"constant": [{"told": 6.2, "true": interval(6.1, 0.4)}]},
        "sessions": [rewarded(session(number)) for number in range(num_sessions)],
    }
    return Pictures(**(fields | changes))  # pyright: ignore[reportArgumentType]


def page(folder: Path, drawn: Pictures | None = None, **summary: object) -> Path:
    """A page in a folder; further keywords are the summary."""
    path = folder / "report.html"
    write_turn_reward_report(path, "candor_geli", summary, drawn or pictures())  # pyright: ignore[reportArgumentType]
    return path
