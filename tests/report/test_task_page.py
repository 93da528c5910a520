"""A task's page in a real browser: its drawing, its panel, what keys, clicks and addresses do."""

import json
from pathlib import Path

import pytest
from report.browser import Browser
from report.pages import place, plain_card, report

from drl.report.task_card import TaskCard
from drl.tree.dialogue_tree import DialogueTree
from drl.types import Failure, Role, Step, StopReason, ToolCall, ToolResult, Turn

pytestmark = pytest.mark.slow


def test_every_tree_opens_and_draws_all_its_turns(
    browser: Browser, page: Path, trees: list[tuple[TaskCard, DialogueTree]]
):
    browser.open(page)
    for card, tree in trees:
        browser.evaluate(f"location.hash = {json.dumps(place(card))}")
        heading = f"{card.task_id} · a run"
        browser.wait(
            f"document.title === {json.dumps(heading)} && "
            f"document.querySelectorAll('[data-node]').length === {len(tree.nodes)}"
        )
        assert browser.count(".goal-strip li") == tree.num_goals
        assert browser.count(".drawing .stop") == len(list(tree.leaves(continuations=True)))
    assert browser.problems == []


def test_a_deep_link_opens_its_node(
    browser: Browser, page: Path, trees: list[tuple[TaskCard, DialogueTree]]
):
    card, tree = trees[6]
    node = next(node for node in tree.nodes if node.events)
    assert node.turn.text is not None
    for tab in ("turn", "dialogue", "compare"):
        browser.open(page, place(card, node=node.id, tab=tab))
        assert browser.text("[aria-selected=true]").lower() == tab
        assert browser.evaluate("document.querySelector('.node.selected').dataset.node") == str(
            node.id
        )
        assert node.turn.text in browser.text(".panel-body")
    browser.open(page, place(card, node=node.id, tab="dialogue"))
    said = [turn.text for turn in tree.dialogue(node.id)]
    bubbles = "[...document.querySelectorAll('.bubble')].map((b) => b.textContent)"
    assert browser.evaluate(bubbles) == said


def test_a_click_on_a_node_shows_its_plan_calls_and_results(browser: Browser, tmp_path: Path):
    tree = DialogueTree("T", 0, 1)
    private = Step("A room, please.", "hotel: open, inform area=north", reply="A room, please.")
    opening = tree.add(None, Turn(Role.USER, "A room, please.", (private,)), (0,))
    call = ToolCall("search_hotel", {"area": "north"})
    found = Step("raw", "I search first.", (call,), (ToolResult([{"name": "acorn lodge"}]),))
    refused = Step("raw", "Once more.", (call,), (ToolResult(None, "no such area"),))
    tree.add(opening.id, Turn(Role.AGENT, "Acorn Lodge.", (found, refused)), (0,))
    tree.nodes[1].stop = StopReason.MAX_TURNS
    card = plain_card("T", "search_hotel")
    browser.open(report(tmp_path, [(card, tree)]), place(card))
    browser.press_mouse("[data-node='1'] .target")
    shown = browser.text(".panel-body")
    for expected in ("I search first.", "search_hotel", "north", "acorn lodge", "Acorn Lodge."):
        assert expected in shown
    assert browser.text(".result.wrong") == "Errorno such area"
    assert "node=1" in browser.evaluate("location.hash")
    browser.press_mouse("[data-node='0'] .target")
    assert "hotel: open, inform area=north" in browser.text(".panel-body .plan")


def test_arrow_keys_walk_the_tree(browser: Browser, page: Path, tmp_path: Path):
    tree = DialogueTree("T", 0, 1)
    opening = tree.add(None, Turn(Role.USER, "hello"), (0,))
    for text in ("first", "second"):
        tree.add(opening.id, Turn(Role.AGENT, text), (0,)).stop = StopReason.MAX_TURNS
    card = plain_card("T", "g")
    browser.open(report(tmp_path, [(card, tree)]), place(card))
    walk = [("ArrowDown", "0"), ("ArrowDown", "1"), ("ArrowRight", "2"), ("ArrowRight", "2")]
    for key, expected in [*walk, ("ArrowLeft", "1"), ("ArrowUp", "0"), ("End", "1")]:
        browser.press(key)
        assert browser.evaluate("document.querySelector('.selected').dataset.node") == expected
    assert browser.evaluate("location.hash") == "#task=T&trial=0&node=1&tab=turn"
    browser.press("Escape")
    browser.wait("document.body.className === 'on-overview'")


def test_compare_shows_the_siblings_side_by_side(
    browser: Browser, page: Path, trees: list[tuple[TaskCard, DialogueTree]]
):
    card, tree = trees[6]
    siblings = next(ids for ids in tree.children() if len(ids) > 1)
    browser.open(page, place(card, node=siblings[0], tab="compare"))
    assert browser.count(".column") == len(siblings)
    for node_id in siblings:
        assert (tree.nodes[node_id].turn.text or "") in browser.text(".columns")
    assert browser.count(".column.chosen") == 1


def test_trees_that_hardly_began_have_a_page_too(browser: Browser, tmp_path: Path):
    empty = DialogueTree("empty", 0, 1)
    broken = DialogueTree("broken", 0, 1)
    failure = Failure("environment", "RuntimeError: no database")
    broken.add(None, Turn(Role.AGENT, "", failure=failure), (0,)).stop = StopReason.ERROR
    cards = [plain_card("empty", "book_hotel"), plain_card("broken", "book_hotel")]
    path = report(tmp_path, list(zip(cards, (empty, broken), strict=True)))
    browser.open(path)
    scores = "[...document.querySelectorAll('.list tbody .score')].map((c) => c.textContent)"
    assert browser.evaluate(scores) == ["unscored", "unscored"]
    for card, num_nodes in zip(cards, (0, 1), strict=True):
        browser.open(path, place(card))
        assert browser.count("[data-node]") == num_nodes
        assert "book_hotel" in browser.text(".goal-strip")
        assert browser.problems == []
    browser.open(path, place(cards[1], node=0))
    assert browser.text(".failure") == "Broke in environmentRuntimeError: no database"


def test_the_label_of_a_fork_leaves_its_branches_free(browser: Browser, tmp_path: Path):
    tree = DialogueTree("T", 0, 1)
    opening = tree.add(None, Turn(Role.USER, "hello"), (0,))
    fork = tree.add(opening.id, Turn(Role.AGENT, None), ())
    for text in ("first", "second"):
        tree.add(fork.id, Turn(Role.AGENT, text), ()).stop = StopReason.GOALS_REACHED
    card = plain_card("T", "book_restaurant")
    browser.open(report(tmp_path, [(card, tree)]), place(card))
    box = "document.querySelector(%s).getBoundingClientRect()"
    label, dot = (box % json.dumps(name) for name in (".badge", "[data-node='1'] .dot"))
    assert browser.evaluate(f"{label}.right <= {dot}.left")
