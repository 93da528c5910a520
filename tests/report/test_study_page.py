"""The form of a study in a real browser, from the first click to the file that comes back."""

import json
import time
from pathlib import Path

import pytest
from report.browser import Browser

from drl.cli.main import app
from drl.evaluation.study import blind
from drl.evaluation.study_samples import Message, PairedSample, write_samples
from drl.report.study_page import write_study_form

pytestmark = pytest.mark.slow

HOSTILE = (
    "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='o'\">"
)
QUESTIONS = {"warmth": "Which is warmer?", "sense": "Which makes sense?"}


def pairs(number: int) -> list[PairedSample]:
    return [
        PairedSample(
            id=f"talk-{i}",
            context=(Message(role="user", content=f"hello {i} {HOSTILE}"),),
            candidates={"base": f"base says {HOSTILE}", "trained": ""},
        )
        for i in range(number)
    ]


def save(browser: Browser, folder: Path) -> Path:
    """The file that a click on the last page's link saves."""
    folder.mkdir()
    browser.wait("document.body.className === 'on-finish'")
    browser.send("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
    browser.press_mouse("#save")
    browser.wait("document.body.className === 'on-finish'")  # the page stays
    for _ in range(200):
        saved = list(folder.glob("*.json"))
        if saved:
            return saved[0]
        time.sleep(0.05)
    raise AssertionError("nothing was saved")


def choose(browser: Browser, criterion: str, position: int) -> None:
    browser.evaluate(f"document.querySelectorAll('input[name={criterion}]')[{position}].click()")


def test_a_rater_goes_through_the_form_and_the_study_reads_what_they_saved(
    browser: Browser, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    write_samples(tmp_path / "pairs.jsonl", pairs(3))
    folder = tmp_path / "study"
    made = ["study", str(tmp_path / "pairs.jsonl"), "--out", str(folder), "--raters", "2"]
    app([*made, "--criteria", "positivity", "--criteria", "fluency"], standalone_mode=False)
    key = json.loads((folder / "key.json").read_text())
    files = []
    for rater in ("1", "2"):
        browser.open(folder / "form.html")
        browser.evaluate(f"document.querySelector('#rater').value = '{rater}'")
        browser.click("#start")
        for number in (1, 2, 3):
            browser.wait("document.body.className === 'on-item'")
            assert browser.text(".place") == f"{number} of 3"
            assert HOSTILE in browser.text(".turn")
            choose(browser, "positivity", 0)  # the answer that stands first
            choose(browser, "fluency", 2)  # no difference
            browser.click("#next")
        assert browser.text("h1") == "Thank you"
        files.append(save(browser, tmp_path / rater))
        sheet = json.loads(files[-1].read_text())
        assert files[-1].name == f"answers-{key['form']}-{rater}.json"
        assert browser.problems == []
        assert {url for url in browser.requests if not url.startswith("blob:")} == {
            (folder / "form.html").as_uri()
        }
        for name, judged in sheet["answers"].items():
            assert judged["choices"] == {"positivity": judged["order"][0], "fluency": "tie"}
            assert sorted(key["items"][name]["candidates"]) == sorted(judged["order"])
    capsys.readouterr()
    app(["study", str(folder), "--answers", *map(str, files)], standalone_mode=False)
    said = capsys.readouterr().out
    assert "3 items of 3 conversations, raters 1, 2" in said
    assert "100.0 [100.0, 100.0] % of choices without ties" in said
    result = json.loads((folder / "results.json").read_text())
    assert result["criteria"]["fluency"]["chosen"]["tie"]["value"] == 1
    assert result["first_shown"]["value"] == 1


def test_what_was_chosen_survives_a_reload_and_open_questions_are_named(
    browser: Browser, tmp_path: Path
):
    _, page = blind(pairs(2), QUESTIONS, num_raters=1, num_items=None, seed=1)
    write_study_form(tmp_path / "form.html", page)
    begin = "document.querySelector('#rater').value = '1'; document.querySelector('#start').click()"
    browser.open(tmp_path / "form.html")
    browser.evaluate(begin)
    choose(browser, "warmth", 1)
    context = browser.text(".turn")
    browser.open(tmp_path / "form.html")
    browser.evaluate(begin)
    assert browser.text(".turn") == context
    assert browser.evaluate("document.querySelectorAll('input[name=warmth]')[1].checked")
    browser.click("#next")
    browser.click("#next")
    assert browser.text("h1") == "Not quite done"
    assert "1 (1)" in browser.text(".warning")
    assert "2 (2)" in browser.text(".warning")
    (judged,) = json.loads(save(browser, tmp_path / "saved").read_text())["answers"].values()
    assert list(judged["choices"]) == ["warmth"]


def test_the_order_changes_from_rater_to_rater_and_both_places_come_up(
    browser: Browser, tmp_path: Path
):
    _, page = blind(pairs(30), QUESTIONS, num_raters=8, num_items=None, seed=1)
    # the functions alone, without the page around them
    source = Path("drl/report/study_form/order.js").read_text()
    write_study_form(tmp_path / "form.html", page)
    browser.open(tmp_path / "form.html")
    orders = browser.evaluate(
        f"(() => {{ {source}; const study = {json.dumps(page)};"
        "return ['1', '2', '3', '4', '5', '6', '7', '8'].map((rater) => itemsFor(study, rater)"
        ".map(({item, order}) => [item, order.join('')])); })()"
    )
    items = [[item for item, _ in rater] for rater in orders]
    assert len({tuple(rater) for rater in items}) == 8
    assert all(sorted(rater) == sorted(items[0]) for rater in items)
    first = [order for rater in orders for _, order in rater]
    # 240 fair throws: 90 or fewer of one side happen once in eight thousand
    assert 90 < first.count("ab") < 150
