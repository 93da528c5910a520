"""The report in a real browser: the overview, what is never run, what holds anywhere."""

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from report.browser import Browser
from report.pages import place, report
from report.synthetic import card_and_goals, forest, run_of_trees

from drl.report.task_card import TaskCard
from drl.tree.dialogue_tree import DialogueTree
from drl.types import (
    Failure,
    RewardEvent,
    Role,
    Step,
    StopReason,
    ToolCall,
    ToolResult,
    Turn,
)

pytestmark = pytest.mark.slow

HOSTILE = (
    "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    "<a href=\"javascript:document.title='owned'\">javascript:document.title='owned'</a>"
    "<!-- <script> \u2028 & &lt; \\u003c"
)
AWKWARD = "\x00\x1b[31m \u202eright to left\u202c שלום עליכם 👩‍👩‍👧‍👦 " + "Donaudampfschiff" * 40


def test_the_overview_works_without_unpacking_a_tree(browser: Browser, page: Path):
    count = "window.unpacked = 0; const Real = DecompressionStream; " + (
        "window.DecompressionStream = function (kind) { unpacked += 1; return new Real(kind); };"
    )
    browser.open(page, before=count)
    assert browser.count(".list tbody tr") == 44
    assert browser.count(".chart") == 4
    text = browser.text(".overview")
    for expected in ("Search: it saw the rewards.", "book_hotel", "Surprise", "two"):
        assert expected in text
    assert "Goals reached, by domain" in text
    assert browser.evaluate("unpacked") == 0
    browser.click(".list tbody a")  # the counter counts once a tree is opened
    browser.wait("document.body.className === 'on-task'")
    assert browser.evaluate("unpacked") == 1


def test_nothing_is_loaded_but_the_file_itself(
    browser: Browser, page: Path, trees: list[tuple[TaskCard, DialogueTree]]
):
    browser.open(page, place(trees[0][0], node=1))
    assert {url.partition("#")[0] for url in browser.requests if "data:" not in url} == {
        page.as_uri()
    }
    assert browser.problems == []


def test_an_address_that_leads_nowhere_says_so(browser: Browser, page: Path):
    browser.open(page, "#task=NO%3Cb%3E.json&trial=0")
    assert "This report has no task NO<b>.json, trial 0." in browser.text(".notice")
    assert browser.count(".list tbody tr") == 44


def test_dialogues_without_a_search_are_not_said_to_be_left_by_one(
    browser: Browser, tmp_path: Path
):
    browser.open(report(tmp_path, list(run_of_trees(1, 3)), search=False))
    titles = browser.text(".charts")
    assert "How dialogues ended" in titles
    assert "Golden" not in titles


def test_a_domain_alone_has_no_row_beside_its_goals(browser: Browser, tmp_path: Path):
    share = {"value": 0.7125, "low": 0.6, "high": 0.8, "n": 44}
    parts = {"per_domain": {"retail": share}, "per_goal_kind": {"book_hotel": share}}
    browser.open(report(tmp_path, list(run_of_trees(1, 3)), **parts))
    text = browser.text(".tables")
    assert "Goals reached, by kind" in text
    assert "by domain" not in text


def test_words_beside_the_list_stay_whole(browser: Browser, tmp_path: Path):
    share = {"value": 0.7125, "low": 0.6, "high": 0.8, "n": 44}
    names = {"book_restaurant": share, "search_attraction": share}
    path = report(tmp_path, list(run_of_trees(1, 3)), per_goal_kind=names)
    lines = (
        "[...document.querySelectorAll('.tables th[scope=row]')].map((cell) => {"
        " const words = document.createRange(); words.selectNodeContents(cell);"
        " return words.getClientRects().length; })"
    )
    with browser.window(1280, 800):
        browser.open(path)
        assert browser.evaluate(lines) == [1, 1]


def test_the_list_filters_and_sorts(
    browser: Browser, page: Path, trees: list[tuple[TaskCard, DialogueTree]]
):
    browser.open(page)
    tasks = "[...document.querySelectorAll('.list tbody tr')].map((r) => r.cells[0].textContent)"
    scores = "[...document.querySelectorAll('.list tbody .score')].map((c) => c.textContent)"
    browser.click(".list th:nth-child(4) button")  # score, highest first
    shown = [float(text) for text in browser.evaluate(scores) if text != "unscored"]
    assert shown == sorted(shown, reverse=True)
    browser.evaluate(
        "{ const field = document.getElementById('search'); field.value = 'mul0003';"
        " field.dispatchEvent(new Event('input', { bubbles: true })); }"
    )
    assert browser.evaluate(tasks) == ["MUL0003.json", "MUL0003.json · 1"]
    browser.evaluate(
        "{ const field = document.getElementById('search'); field.value = '';"
        " field.dispatchEvent(new Event('input', { bubbles: true }));"
        " const choice = document.querySelector('select[aria-label=\"Any branches\"]');"
        " choice.value = 'error'; choice.dispatchEvent(new Event('change', { bubbles: true })); }"
    )
    broken = sum(any(leaf.stop is StopReason.ERROR for leaf in t.leaves()) for _, t in trees)
    assert browser.count(".list tbody tr") == broken > 0


def hostile_tree(text: str) -> tuple[TaskCard, DialogueTree]:
    """A tree that says `text` wherever a tree can say something."""
    card = TaskCard(
        task_id=text,
        trial=0,
        domains=(text,),
        goals=((text, {text: text}),),
        instructions=(text, text),
        score=1.0,
    )
    tree = DialogueTree(text, 0, 1)
    opening = tree.add(None, Turn(Role.USER, text), (0,))
    call = ToolCall(text, {text: text})
    results = (ToolResult([{text: text}]), ToolResult(None, text))
    step = Step(text, text, (call, call), results, text)
    detail = {"goal": 0, "step": 0, "call": 0, text: text}
    node = tree.add(opening.id, Turn(Role.AGENT, text, (step,)), ())
    node.events = (RewardEvent(1.0, text, detail), RewardEvent(-0.5, text, {text: text}))
    node.stop, node.score = StopReason.GOALS_REACHED, 1.0
    broken = tree.add(
        opening.id, Turn(Role.AGENT, text, (step,), failure=Failure(text, text)), (0,)
    )
    broken.stop = StopReason.ERROR
    return card, tree


def test_hostile_text_is_shown_and_never_run(browser: Browser, tmp_path: Path):
    card, tree = hostile_tree(HOSTILE)
    summary = {"label": HOSTILE, "command": HOSTILE, HOSTILE: {HOSTILE: {HOSTILE: HOSTILE}}}
    path = report(tmp_path, [(card, tree)], title=HOSTILE, **summary)
    for address in ("", place(card), place(card, node=1), place(card, node=1, tab="compare")):
        browser.open(path, address)
        expected = HOSTILE if address == "" else f"{HOSTILE} · {HOSTILE}"
        # a title that names the task holds the text itself, folded like any title
        assert browser.evaluate("document.title").split() == expected.split()
        assert HOSTILE in browser.text("#page")
        assert browser.count("#page img, #page script, #page iframe") == 0
        assert browser.count("[onerror], [onclick], a[href^='javascript']") == 0
        assert browser.problems == []
    browser.open(path, place(card, node=2))
    assert f"Broke in {HOSTILE}" in browser.text(".failure")


def test_the_policy_stops_a_script_that_got_in_anyway(browser: Browser, page: Path):
    browser.open(page)
    browser.evaluate(
        "{ const s = document.createElement('div'); document.body.append(s);"
        " s.innerHTML = '<img src=x onerror=\"document.title=1\">'; }"
    )
    browser.wait("document.querySelector('img').complete")
    assert browser.evaluate("document.title") == "a run"


def test_the_layout_holds_on_a_phone_with_awkward_text(browser: Browser, tmp_path: Path):
    card, tree = hostile_tree(AWKWARD)
    path = report(tmp_path, [(card, tree)], label=AWKWARD, command=AWKWARD, other={AWKWARD: 1})
    with browser.window(400, 800, mobile=True):
        for address in ("", *(place(card, node=1, tab=t) for t in ("turn", "dialogue", "compare"))):
            browser.open(path, address)
            assert browser.evaluate("document.documentElement.scrollWidth") == 400
            assert "␀␛[31m" in browser.text("#page")


def test_an_old_browser_is_told_why_it_sees_no_trees(
    browser: Browser, page: Path, trees: list[tuple[TaskCard, DialogueTree]]
):
    browser.open(page, place(trees[0][0]), before="delete window.DecompressionStream;")
    assert "DecompressionStream" in browser.text(".notice")
    assert browser.count(".list tbody tr") == 44


def test_a_run_without_trees_is_a_page_too(browser: Browser, tmp_path: Path):
    browser.open(report(tmp_path, [], n_tasks=0))
    assert "no trees yet" in browser.text("#page")
    assert browser.problems == []


def test_thousands_of_rows_are_made_as_they_are_needed(browser: Browser, tmp_path: Path):
    rng = Random(2)
    about = card_and_goals(rng, "T")
    tree = forest(rng, about, 1)
    many = [(replace(about, trial=trial), tree) for trial in range(3000)]
    browser.open(report(tmp_path, many))
    assert 0 < browser.count(".list tbody tr") < 300
    assert "3,000 trees" in browser.text(".filters")
