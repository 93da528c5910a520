"""Estimates of groups side by side, and what a judge said, in a real browser."""

import json
from pathlib import Path

import pytest
from report.browser import Browser
from report.pages import place, plain_card, report

from drl.tree.dialogue_tree import DialogueTree
from drl.types import RewardEvent, Role, Step, StopReason, Turn

pytestmark = pytest.mark.slow

WIDE = {"value": 5.5, "low": 1.0, "high": 10.0, "n": 2}
SURE = {"value": 10.0, "low": 10.0, "high": 10.0, "n": 1}
CHART = {
    "range": [1, 10],
    "rows": {
        "math": {"turn_1": WIDE, "turn_2": SURE, "both": WIDE},
        "</script><b>": {"turn_1": SURE, "turn_2": None, "both": SURE},
    },
}


def _texts(browser: Browser, selector: str) -> list[str]:
    every = f"[...document.querySelectorAll({json.dumps(selector)})]"
    return browser.evaluate(f"{every}.map((e) => e.textContent)")


def test_each_group_has_a_mark_for_each_series_that_it_has(browser: Browser, tmp_path: Path):
    browser.open(report(tmp_path, [], bars={"Rating by category": CHART}))
    assert browser.problems == []
    assert _texts(browser, ".bars .title") == ["Rating by category"]
    assert _texts(browser, ".bars .key > span") == ["Turn 1", "Turn 2"]
    assert browser.count(".bars figure > svg .mark") == 3
    assert browser.count(".bars figure > svg .series-1 rect") == 1
    assert _texts(browser, ".bars figure > svg .soft") == [str(number) for number in range(1, 11)]
    titles = _texts(browser, ".bars g g title")
    assert titles[0] == "math, Turn 1: 5.5 [1, 10], n = 2"
    assert browser.count(".tables dt") == 0  # it is drawn, so it is not listed as well


def test_a_line_marks_the_middle_where_there_is_one(browser: Browser, tmp_path: Path):
    chart = {"range": [0, 1], "middle": 0.5, "rows": {"all": {"both": SURE | {"value": 0.25}}}}
    browser.open(report(tmp_path, [], bars={"Wins": chart, "odd": 3}))
    assert browser.problems == []
    assert browser.count(".bars .reference") == 1
    assert browser.count(".bars figure") == 1
    assert browser.count(".bars figure > svg .mark") == 1


def test_what_could_not_be_judged_is_told_at_its_turn(browser: Browser, tmp_path: Path):
    tree = DialogueTree("q", 0, 0)
    user = tree.add(None, Turn(Role.USER, "Why?"), ())
    said = tree.add(user.id, Turn(Role.AGENT, "So.", (Step("So.", reply="So."),)), ())
    long = "Grade it.\n" * 20
    said.events = (RewardEvent(0.5, "judge", {"turn": 1, "judgment": long}),)
    said.unscored = ({"source": "judge_pair", "cause": "no verdict", "g1_judgment": "<b>prose"},)
    said.stop = StopReason.MAX_TURNS
    card = plain_card("q")
    path = report(tmp_path, [(card, tree)])
    browser.open(path, place(card, node=said.id))
    assert browser.problems == []
    lines = _texts(browser, ".events li")
    assert lines[0].startswith("★+0.5judge")
    assert "turn 1" in lines[0]
    assert lines[1].startswith("unscoredjudge_pair: no verdict")
    assert "<b>prose" in lines[1]
    assert browser.count(".events details") == 1
