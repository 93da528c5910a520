"""Curves of a training in a real browser."""

import json
import math
from pathlib import Path

import pytest
from report.browser import Browser
from report.pages import report
from report.synthetic import run_of_trees

pytestmark = pytest.mark.slow

SCORE = {"x": [0, 10, 20, 30], "y": [0.1, 0.3, 0.6, 0.8], "x_label": "update"}
HOSTILE = "</script><img src=x onerror=\"document.title='owned'\">\x1b שלום " + "Dampfschiff" * 40


def _texts(browser: Browser, selector: str) -> list[str]:
    every = f"[...document.querySelectorAll({json.dumps(selector)})]"
    return browser.evaluate(f"{every}.map((e) => e.textContent)")


def _point_at(browser: Browser, share: float) -> None:
    """Move the mouse to this share of the first curve's width."""
    left, top, width, height = browser.evaluate(
        "(({x, y, width, height}) => [x, y, width, height])"
        "(document.querySelector('.curves svg[tabindex]').getBoundingClientRect())"
    )
    x, y = left + share * width, top + height / 2
    browser.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)


def test_a_curve_has_numbers_on_its_axes_and_tells_its_last_point(browser: Browser, tmp_path: Path):
    browser.open(report(tmp_path, [], curves={"mean_reward": SCORE}))
    assert browser.text(".curves .title") == "Mean reward"
    assert browser.text(".curves .readout") == "update 30: 0.800"
    assert _texts(browser, ".curves .up") == ["0", "0.2", "0.4", "0.6", "0.8"]
    assert _texts(browser, ".curves .across") == ["0", "5", "10", "15", "20", "25", "30"]
    assert browser.text(".curves .across-name") == "update"
    path = browser.evaluate("document.querySelector('.curves .line').getAttribute('d')")
    assert path.count("L") == 3
    assert browser.problems == []


def test_the_nearest_point_is_told_to_a_pointer_and_to_arrow_keys(browser: Browser, tmp_path: Path):
    curve = SCORE | {"low": [0.0, 0.2, 0.5, 0.7], "high": [0.2, 0.4, 0.7, 0.9]}
    browser.open(report(tmp_path, [], curves={"score": curve}))
    assert browser.count(".curves .point[visibility=hidden]") == 1
    _point_at(browser, 0.41)  # the second of four points is a third along the line
    assert browser.text(".readout") == "update 10: 0.300 [0.200, 0.400]"
    assert browser.count(".curves .point[visibility=visible]") == 1
    browser.evaluate(
        "document.querySelector('.curves svg').dispatchEvent("
        "new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true}))"
    )
    assert browser.text(".readout") == "update 20: 0.600 [0.500, 0.700]"
    browser.send("Input.dispatchMouseEvent", type="mouseMoved", x=1, y=1)
    assert browser.text(".readout") == "update 30: 0.800 [0.700, 0.900]"


def test_lines_of_one_chart_share_its_axes_and_are_told_by_name(browser: Browser, tmp_path: Path):
    x = [0, 1, 2]
    lines = {
        "proxy": {"x": x, "y": [0, 2, 4], "low": [0, 1, 3], "high": [1, 3, 5]},
        "judge": {"x": x, "y": [0, 1, -1]},
        "judge, best of n": {"x": [0, 1], "y": [0, 1], "low": [0, 0], "high": [1, 2]},
    }
    lines["judge, best of n"]["beside"] = "judge"
    chart = {"lines": lines, "x_label": "KL"}
    uneven = {"lines": {"proxy": {"x": [1], "y": []}}}
    browser.open(report(tmp_path, [], curves={"rewards": chart, "uneven": uneven}))
    assert browser.count(".curves .chart") == 1
    assert _texts(browser, ".curves .key span") == ["proxy", "judge", "judge, best of n"]
    tones = "[...document.querySelectorAll('.curves path.line')].map((e) => e.className.baseVal)"
    assert browser.evaluate(tones) == ["line tone-0", "line tone-1", "line tone-1 beside"]
    assert browser.count(".curves path.band") == 2
    assert browser.text(".readout") == "proxy, KL 2: 4 [3, 5]"
    # half way down, with the marks below the axis, is about 1: nearer to -1 than to 4
    _point_at(browser, 0.97)
    assert browser.text(".readout") == "judge, KL 2: -1"
    browser.evaluate(
        "document.querySelector('.curves svg[tabindex]').dispatchEvent("
        "new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true}))"
    )
    assert browser.text(".readout") == "judge, best of n, KL 0: 0 [0, 1]"
    assert browser.problems == []


def test_what_is_no_number_is_a_gap(browser: Browser, tmp_path: Path):
    values = [1.0, 2.0, math.nan, 3.0, math.inf, 2.0, 1.0]  # a line, a point alone, a line
    curve = {"x": list(range(7)), "y": values, "x_label": "update"}
    never = {"x": [0, 1], "y": [math.nan, math.nan], "x_label": "update"}
    browser.open(report(tmp_path, [], curves={"score": curve, "never": never}))
    path = browser.evaluate("document.querySelector('.curves .line').getAttribute('d')")
    assert path.count("M") == 3
    assert "NaN" not in path
    assert browser.count(".curves .lone") == 1
    assert _texts(browser, ".readout") == ["update 6: 1", "no number yet"]
    assert browser.problems == []


@pytest.mark.parametrize(
    ("x", "y", "across", "up"),
    [
        ([7], [0.0], ["7"], ["-1", "-0.5", "0", "0.5", "1"]),
        ([0.5, 2.5], [-2e6, 2e6], ["0.5", "1", "1.5", "2", "2.5"], ["-2M", "-1M", "0", "1M", "2M"]),
        (
            [3, 4],
            [11.2, 11.20002],
            ["3", "4"],
            ["11.2", "11.200005", "11.20001", "11.200015", "11.20002"],
        ),
        ([3, 4], [0.0, 4e-6], ["3", "4"], ["0", "1.0e-6", "2.0e-6", "3.0e-6", "4.0e-6"]),
    ],
)
def test_marks_are_round_numbers_of_any_size(
    browser: Browser, tmp_path: Path, x: list[float], y: list[float], across: list[str], up: list
):
    browser.open(report(tmp_path, [], curves={"score": {"x": x, "y": y, "x_label": "update"}}))
    assert _texts(browser, ".curves .across") == across
    assert _texts(browser, ".curves .up") == up


def test_a_training_without_trees_is_a_page_of_its_curves(browser: Browser, tmp_path: Path):
    browser.open(report(tmp_path, [], curves={"score": SCORE}, training={"updates": 30}))
    assert browser.count(".curves .chart") == 1
    assert browser.count(".notice, .key-number, .task-list") == 0
    assert "Training" in browser.text(".tables")
    assert "Curves" not in browser.text(".tables")


def test_curves_stand_above_the_charts_of_trees(browser: Browser, tmp_path: Path):
    browser.open(report(tmp_path, list(run_of_trees(1, 3)), curves={"score": SCORE}))
    assert browser.count(".curves + .charts .chart") == 4
    assert browser.count(".list tbody tr") == 3


def test_what_is_no_curve_is_shown_by_its_shape(browser: Browser, tmp_path: Path):
    browser.open(report(tmp_path, [], curves={"uneven": {"x": [1, 2], "y": [3]}, "word": "none"}))
    assert browser.count(".curves") == 0
    assert "Curves" in browser.text(".tables")
    assert "Uneven" in browser.text(".tables")
    assert browser.problems == []


def test_names_of_curves_are_text_and_fit_on_a_phone(browser: Browser, tmp_path: Path):
    path = report(tmp_path, [], curves={HOSTILE: SCORE | {"x_label": HOSTILE}})
    with browser.window(400, 800, mobile=True):
        browser.open(path)
        assert browser.evaluate("document.documentElement.scrollWidth") == 400
        assert browser.evaluate("document.title") == "a run"
        assert browser.count("#page img") == 0
        assert "<img src=x" in browser.text(".curves .title")
        assert browser.problems == []
