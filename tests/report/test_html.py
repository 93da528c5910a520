"""The file that is written: data islands, size, safety, atomicity. No browser."""

import base64
import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from report.synthetic import card_and_goals, josh_tree, run_of_trees, scored

from drl.errors import RunError
from drl.report.html import write_report
from drl.report.index import index_row
from drl.report.task_card import TaskCard, card_of
from drl.tree.codec import to_line
from drl.tree.dialogue_tree import DialogueTree
from drl.types import Brief, Role, StopReason, Task, Turn

CHUNK = re.compile(r'<script type="text/plain" id="tree-(\d+)">([^<]*)</script>')
ISLAND = '<script type="application/json" id="%s">'


def island(page: str, name: str) -> object:
    start = page.index(ISLAND % name) + len(ISLAND % name)
    return json.loads(page[start : page.index("</script>", start)])


def card(**changes: object) -> TaskCard:
    fields: dict[str, object] = {
        "task_id": "T1",
        "trial": 0,
        "domains": ("hotel",),
        "goals": (("search_hotel", {"area": "north"}), ("book_hotel", {"people": "2"})),
        "instructions": ("Find a hotel.",),
        "score": None,
    }
    return TaskCard(**(fields | changes))  # pyright: ignore[reportArgumentType]


def small_tree() -> DialogueTree:
    """Two goals; the golden branch reaches the first, a cut sibling the second, then time is up."""
    tree = DialogueTree("T1", 0, 2)
    opening = tree.add(None, Turn(Role.USER, "hello"), (0, 1))
    golden = tree.add(opening.id, Turn(Role.AGENT, "found"), (1,))
    cut = tree.add(opening.id, Turn(Role.AGENT, "booked"), (0,))
    cut.stop, cut.score = StopReason.COLLAPSED, 0.25
    thanks = tree.add(golden.id, Turn(Role.USER, "thanks"), (1,))
    last = tree.add(thanks.id, Turn(Role.AGENT, "bye"), (1,))
    last.stop, last.score = StopReason.MAX_TURNS, 0.5
    tree.mark_golden(golden.id)
    return tree


def test_every_tree_comes_back_from_its_chunk(tmp_path: Path):
    expected = [to_line(tree).decode() for _, tree in run_of_trees(3, 22)]
    write_report(tmp_path / "report.html", "run", {}, run_of_trees(3, 22))
    chunks = CHUNK.findall((tmp_path / "report.html").read_text())
    assert [int(position) for position, _ in chunks] == list(range(22))
    stored = [gzip.decompress(base64.b64decode(packed)).decode() for _, packed in chunks]
    assert [text[text.index(',"tree":') + 8 : -1] for text in stored] == expected


def test_the_index_says_what_the_best_dialogue_reached():
    row = index_row(card(score=0.5), small_tree())
    assert row["goal_states"] == ["hit", "elsewhere"]
    assert row["turns"] == 2  # "found" and "bye"
    assert row["best"] == 4
    assert row["outcomes"] == {
        "golden": 0,
        "successful": 0,  # the small tree carries no reward events
        "failed": 2,
        "censored": 0,
        "error": 0,
    }


def test_a_tree_that_broke_at_once_has_a_row_too():
    tree = DialogueTree("T1", 0, 2)
    tree.add(None, Turn(Role.AGENT, ""), (0, 1)).stop = StopReason.ERROR
    row = index_row(card(), tree)
    assert row["goal_states"] == ["missed", "missed"]
    assert row["best"] is None
    assert row["score"] is None


def test_five_hundred_trees_stay_under_twenty_megabytes(tmp_path: Path):
    rng = Random(5)
    sizes: list[int] = []

    def trees() -> Iterator[tuple[TaskCard, DialogueTree]]:
        for position in range(500):
            about = card_and_goals(rng, f"MUL{position:04}.json")
            tree = josh_tree(rng, about, luck=0.025)
            sizes.append(len(tree.nodes))
            yield scored(about, tree), tree

    write_report(tmp_path / "report.html", "run", {}, trees())
    assert sum(sizes) / len(sizes) >= 120
    assert (tmp_path / "report.html").stat().st_size < 20_000_000


def test_text_cannot_end_the_element_it_stands_in(tmp_path: Path):
    hostile = "</script><script>x</script><!--\u2028"
    write_report(
        tmp_path / "report.html",
        hostile,
        {"label": hostile, hostile: hostile},
        [(card(task_id=hostile, domains=(hostile,)), small_tree())],
    )
    page = (tmp_path / "report.html").read_text()
    # summary, one tree, index, our own script
    assert page.count("<script") == page.count("</script>") == 4
    assert "\u2028" not in page[page.index("<body>") :].partition("<script>")[0]
    assert island(page, "summary") == {
        "title": hostile,
        "summary": {"label": hostile, hostile: hostile},
    }


def test_the_page_names_no_other_place_to_load_from(tmp_path: Path):
    write_report(tmp_path / "report.html", "run", {}, [(card(), small_tree())])
    page = (tmp_path / "report.html").read_text()
    names = set(re.findall(r"https?://[^\s'\"]+", page))
    assert names == {"http://www.w3.org/2000/svg"}  # the name of SVG, never loaded
    assert "default-src 'none'" in page
    assert "unsafe-inline" not in page
    assert not re.search(r"@import|\burl\(|<link(?! rel=\"icon\" href=\"data:)|\bfetch\(", page)


def test_numbers_that_json_lacks_become_null(tmp_path: Path):
    summary = {"mean_reward": {"value": 0.5, "low": float("nan"), "high": float("inf")}}
    write_report(tmp_path / "report.html", "run", summary, [])
    page = (tmp_path / "report.html").read_text()
    assert island(page, "summary") == {
        "title": "run",
        "summary": {"mean_reward": {"value": 0.5, "low": None, "high": None}},
    }


def test_the_same_run_gives_the_same_file(tmp_path: Path):
    for name in ("one.html", "two.html"):
        write_report(tmp_path / name, "run", {"seed": 1}, run_of_trees(7, 5))
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()


def test_a_run_that_breaks_while_writing_leaves_the_old_report(tmp_path: Path):
    def breaks() -> Iterator[tuple[TaskCard, DialogueTree]]:
        yield card(), small_tree()
        raise KeyboardInterrupt

    path = tmp_path / "report.html"
    path.write_text("the old one")
    with pytest.raises(KeyboardInterrupt):
        write_report(path, "run", {}, breaks())
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]
    assert path.read_text() == "the old one"


def test_a_folder_that_is_not_there_is_one_clear_error(tmp_path: Path):
    with pytest.raises(RunError, match="the report cannot be written"):
        write_report(tmp_path / "missing" / "report.html", "run", {}, [])


def test_a_prompt_is_named_by_what_it_says_and_a_task_with_a_brief_by_its_id():
    said = Task("0", "all", Brief((), human_turns=("Tell me about the sea.",)), ())
    assert index_row(card_of(said, small_tree()), small_tree())["title"] == "Tell me about the sea."
    briefed = Task("T1", "all", Brief(("Find a hotel.",), human_turns=("Hi",)), ())
    assert "title" not in index_row(card_of(briefed, small_tree()), small_tree())
