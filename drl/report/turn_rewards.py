"""The report of a turn reward model: methods side by side, calibration, conversations by reward.

One HTML file that opens without a network, like the report of rollouts (`drl.report.html`), of
whose scripts and style it is made too.
"""

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from drl.report.page import (
    content_policy,
    filled,
    island,
    joined_script,
    read_part,
    write_page,
)
from drl.turn_reward.session import Session
from drl.types import JSON, Role

MOST_SESSIONS = 20
"""Conversations that a page holds; more would make it slow to open."""

_FOLDER = "template"
_STYLES = ("viewer.css", "turn_rewards.css")
_SCRIPTS = (
    "data.js",
    "terms.js",
    "dom.js",
    "charts.js",
    "curves.js",
    "summary.js",
    "turn_rewards_methods.js",
    "turn_rewards_calibration.js",
    "turn_rewards_session.js",
    "turn_rewards_page.js",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodFigures:
    """Measures of one way to tell turn rewards, each `{"value", "low", "high", "n"}`.

    Measures with a picture of their own are those of `drl.evaluation.turn_rewards_measures`; all
    are in the table.
    """

    name: str
    kind: Literal["method", "baseline", "control", "ceiling"]
    measures: Mapping[str, JSON]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRewards:
    """A held-out session and what each method makes of it.

    `rewards`: by method, one for each agent turn. `told`: by method the session score in points.
    `hidden`: true rewards, where the conversation was generated.
    """

    session: Session
    rewards: Mapping[str, Sequence[float]]
    told: Mapping[str, float]
    hidden: Sequence[float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pictures:
    """All that is drawn, beside the curves of the summary.

    `warnings` stand above everything. `controls` are sentences, and whether each came out as it
    must. `calibration`: by method, bins `{"told", "true": {"value", "low", "high", "n"}}`.
    `sessions`: the first `MOST_SESSIONS` are shown, so bring them in an order that no result had a
    say in.
    """

    warnings: Sequence[str]
    methods: Sequence[MethodFigures]
    controls: Sequence[tuple[str, bool]]
    calibration: Mapping[str, Sequence[Mapping[str, JSON]]]
    sessions: Sequence[SessionRewards]


def write_turn_reward_report(
    path: Path, title: str, summary: Mapping[str, JSON], pictures: Pictures
) -> None:
    """Write the report of a turn reward model; a reader sees the old file or the whole new one.

    `summary` is shown as in the report of rollouts, its `curves` drawn, all else by its shape.

    Raises:
        RunError: the file cannot be written.
    """
    style = "".join(read_part(_FOLDER, name) for name in _STYLES)
    script = joined_script(_FOLDER, _SCRIPTS)
    drawn: dict[str, JSON] = {
        "warnings": pictures.warnings,
        "methods": [
            {"name": each.name, "kind": each.kind, "measures": each.measures}
            for each in pictures.methods
        ],
        "controls": [{"words": words, "holds": holds} for words, holds in pictures.controls],
        "calibration": pictures.calibration,
        "num_sessions": len(pictures.sessions),
    }
    texts = {
        "policy": content_policy(style, script),
        "title": html.escape(title),
        "style": style,
        "script": script,
        "summary": island({"title": title, "summary": summary}).decode(),
        "pictures": island(drawn).decode(),
        "index": island([_shown(each) for each in pictures.sessions[:MOST_SESSIONS]]).decode(),
    }
    page = filled(read_part(_FOLDER, "turn_rewards.html"), texts)
    write_page(path, [page.encode()], "report")


def _shown(told: SessionRewards) -> JSON:
    """A session as the page takes it; rewards stand at the turns that earned them."""
    session = told.session
    number_of = {place: number for number, place in enumerate(session.agent_turns)}
    turns: list[JSON] = []
    for place, turn in enumerate(session.turns):
        shown: dict[str, JSON] = {
            "number": turn.number,
            "role": turn.role.value,
            "text": turn.text,
            "start": turn.start,
        }
        if turn.role is Role.AGENT:
            number = number_of[place]
            shown["rewards"] = {name: each[number] for name, each in told.rewards.items()}
            shown["hidden"] = None if told.hidden is None else told.hidden[number]
            shown["affect"] = None if turn.reaction is None else turn.reaction.label
            shown["cues"] = {} if turn.reaction is None else turn.reaction.cues
        turns.append(shown)
    return {
        "id": session.id,
        "split": session.split,
        "score": session.score,
        "told": told.told,
        "turns": turns,
    }
