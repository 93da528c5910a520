"""The report of a turn reward model: the file without a browser, and the page in one."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from report.browser import Browser
from report.turn_reward_pages import METHODS, figures, page, pictures, rewarded, session

from drl.errors import RunError
from drl.report.turn_rewards import MOST_SESSIONS

HOSTILE = "</script><img src=x onerror=\"document.title='owned'\">\x1b שלום <!--slot:title-->"


def _island(path: Path, name: str) -> object:
    text = path.read_text()
    start = f'<script type="application/json" id="{name}">'
    begin = text.index(start) + len(start)
    return json.loads(text[begin : text.index("</script>", begin)])


def _texts(browser: Browser, selector: str) -> list[str]:
    every = f"[...document.querySelectorAll({json.dumps(selector)})]"
    return browser.evaluate(f"{every}.map((e) => e.textContent)")


def test_rewards_stand_at_the_turns_that_earned_them(tmp_path: Path):
    shown = rewarded(session(0, num_turns=6))
    sessions = _island(page(tmp_path, pictures(sessions=[shown])), "index")
    assert isinstance(sessions, list)
    turns = sessions[0]["turns"]
    assert ["rewards" in turn for turn in turns] == [False, True] * 3
    assert [turn["rewards"]["geli"] for turn in turns[1::2]] == list(shown.rewards["geli"])
    assert [turn["hidden"] for turn in turns[1::2]] == list(shown.hidden or ())


def test_a_page_holds_so_many_conversations_and_says_how_many_there_are(tmp_path: Path):
    many = [rewarded(session(number, num_turns=4)) for number in range(MOST_SESSIONS + 5)]
    path = page(tmp_path, pictures(sessions=many))
    sessions, drawn = _island(path, "index"), _island(path, "pictures")
    assert isinstance(sessions, list)
    assert isinstance(drawn, dict)
    assert len(sessions) == MOST_SESSIONS
    assert drawn["num_sessions"] == MOST_SESSIONS + 5


def test_a_page_that_cannot_be_written_is_told(tmp_path: Path):
    with pytest.raises(RunError, match="the report cannot be written"):
        page(tmp_path / "nowhere")


def test_what_people_said_cannot_leave_its_island(tmp_path: Path):
    odd = rewarded(session(0, text=HOSTILE + "{}"))
    path = page(tmp_path, pictures(sessions=[odd]))
    assert "<img" not in path.read_text()
    sessions = _island(path, "index")
    assert isinstance(sessions, list)
    assert sessions[0]["turns"][0]["text"].startswith(HOSTILE)


@pytest.mark.slow
def test_all_pictures_are_drawn_without_a_network(browser: Browser, tmp_path: Path):
    path = page(tmp_path, label="Turn rewards.")
    browser.open(path)
    assert browser.problems == []
    assert browser.requests == [path.as_uri()]
    assert _texts(browser, ".warnings .notice")[1] == "li does not beat a constant."
    assert browser.count(".methods-figure .head") == 5
    assert browser.count(".methods-figure circle") == 8 * 5 - 1  # the error of li lies beyond
    assert browser.count(".methods-figure .beyond") == 1
    assert browser.count(".methods-figure .reference") == 5
    assert _texts(browser, ".calibration figcaption") == list(METHODS)
    assert browser.count(".calibration .true") == 8 * len(METHODS)
    assert browser.count(".turn") == 30
    assert browser.count(".turn.agent") == 15


@pytest.mark.slow
def test_another_method_colours_the_turns_anew(browser: Browser, tmp_path: Path):
    browser.open(page(tmp_path))
    tones = "[...document.querySelectorAll('.turn.agent')].map((e) => e.className).join()"
    before = browser.evaluate(tones)
    browser.evaluate(
        "(() => { const pick = document.querySelectorAll('.choices select')[1];"
        "pick.value = 'geli'; pick.dispatchEvent(new Event('change')); })()"
    )
    assert browser.evaluate(tones) != before
    assert "geli tells 6.5." in browser.text(".sessions > div:last-child")


@pytest.mark.slow
def test_a_bar_of_the_course_leads_to_its_turn(browser: Browser, tmp_path: Path):
    browser.open(page(tmp_path))
    browser.click(".course .step:last-child")
    assert browser.count(".turn.marked") == 1
    assert browser.evaluate("document.querySelector('.turns').lastChild.className").endswith(
        "marked"
    )


@pytest.mark.slow
def test_what_was_not_seen_is_no_zero(browser: Browser, tmp_path: Path):
    unseen = session(0, num_turns=4)
    turns = tuple(replace(turn, reaction=None) for turn in unseen.turns)
    shown = replace(rewarded(replace(unseen, turns=turns, score=None)), hidden=None)
    browser.open(page(tmp_path, pictures(sessions=[shown])))
    assert _texts(browser, ".turn .chip") == ["listener unseen"] * 2
    assert browser.count(".course .unseen") == 2
    assert "hidden" not in _texts(browser, ".course text")
    assert browser.problems == []


@pytest.mark.slow
def test_a_failed_control_stands_above_everything(browser: Browser, tmp_path: Path):
    drawn = pictures(controls=[("it went wrong", False), ("it went well", True)])
    browser.open(page(tmp_path, drawn))
    assert _texts(browser, ".warnings .failed") == ["it went wrong"]
    assert _texts(browser, ".controls .chip") == ["failed", "holds"]


@pytest.mark.slow
def test_a_run_without_results_is_a_page_too(browser: Browser, tmp_path: Path):
    nothing = pictures(0, warnings=[], methods=[], controls=[], calibration={})
    browser.open(page(tmp_path, nothing, training={"members": 0}))
    assert browser.problems == []
    assert browser.count(".methods, .calibration, .sessions, .warnings") == 0
    assert "Training" in browser.text(".tables")


@pytest.mark.slow
def test_foreign_text_is_text_and_fits_on_a_phone(browser: Browser, tmp_path: Path):
    odd = rewarded(session(0, text=HOSTILE + "x" * 300 + "{}"))
    drawn = pictures(sessions=[odd], warnings=[HOSTILE], methods=[figures(HOSTILE, "method", 0.5)])
    with browser.window(400, 800, mobile=True):
        browser.open(page(tmp_path, drawn))
        assert browser.evaluate("document.documentElement.scrollWidth") == 400
        assert browser.evaluate("document.title") == "candor_geli"
        assert browser.count("#page img") == 0
        assert browser.problems == []
