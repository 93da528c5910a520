"""What an export writes: the same bytes for the same trees, and only where it may."""

import logging
import os
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from drl.errors import RunError
from drl.mining.card import Card
from drl.mining.export import export
from drl.mining.mine import Counts, mine
from drl.mining.source import Source
from drl.runtime.run_dir import ROLLOUTS
from drl.tree.codec import to_line
from drl.tree.store import read_trees
from tests.mining.forest import ListedMiner, agent_of, labelled, source_of, tree_of

AGENT = agent_of("react/compact")
MINER = ListedMiner(
    {
        "a": [labelled("p", "good", label=True), labelled("p", "x", label=False)],
        "b": [labelled("p", "good", label=True, task="b")],
        "c": [labelled("q", "good", label=True, task="c")],
    }
)


def write(source: Source, out: Path, *, miner: ListedMiner = MINER, force: bool = False) -> Counts:
    """Export what a miner finds."""
    card = Card(
        file=out.name,
        file_format="kto",
        policy="listed",
        settings={},
        agent=None,
        sources=[source],
        command="none",
    )
    return export(mine(miner, [source], None, "kto"), card, out, force=force)


def test_rows_do_not_depend_on_the_order_in_which_rollouts_finished(tmp_path):
    # the rows of a and b are equal: which of them is kept, and where it stands, is for both orders
    lines = [to_line(tree_of(task)) + b"\n" for task in "abc"]
    written = []
    for order in (lines, lines[::-1]):
        (tmp_path / ROLLOUTS).write_bytes(b"".join(order))
        stored = replace(source_of(agent=AGENT), read=partial(read_trees, tmp_path / ROLLOUTS))
        write(stored, tmp_path / "rows.jsonl", force=True)
        names = ("rows.jsonl", "rows.jsonl.card.md")
        written.append([(tmp_path / name).read_bytes() for name in names])
    assert written[0] == written[1]
    assert written[0][0].count(b"\n") == 3


def test_rows_of_tasks_to_evaluate_on_are_warned_of_once_and_in_the_card(tmp_path, caplog):
    out = tmp_path / "rows.jsonl"
    of_test = source_of(*map(tree_of, "abc"), agent=AGENT)
    with caplog.at_level(logging.WARNING):
        write(of_test, out)
    # of a and c; the one row that b gives is one of a already
    warning = (
        "rows of 2 tasks of the test split: what is learned from them cannot be evaluated there"
    )
    assert [record.getMessage() for record in caplog.records] == [f"{out}: {warning}"]
    assert f"- **Take care:** {warning}\n" in Path(f"{out}.card.md").read_text()

    caplog.clear()
    of_train = {name: replace(task, split="train") for name, task in of_test.tasks.items()}
    write(replace(of_test, tasks=of_train), out, force=True)
    assert caplog.records == []
    assert "Take care" not in Path(f"{out}.card.md").read_text()


def test_labels_of_which_hardly_any_is_bad_are_warned_of_with_the_way_out(tmp_path, caplog):
    out = tmp_path / "rows.jsonl"
    good = [labelled(f"p{number}", "x", label=True) for number in range(99)]
    rows = {"a": [*good, labelled("p", "y", label=False)]}
    source = source_of(tree_of("a"), agent=AGENT)
    of_train = {name: replace(task, split="train") for name, task in source.tasks.items()}
    source = replace(source, tasks=of_train)
    write(source, out, miner=ListedMiner(rows))
    (warning,) = (record.getMessage() for record in caplog.records)
    assert "only 1 of 100 rows are bad" in warning
    assert "rollout.resolve_censored=2" in warning
    assert "josh_paper" in warning
    assert "only 1 of 100 rows are bad" in Path(f"{out}.card.md").read_text()


def link_to_nothing(path: Path) -> None:
    path.symlink_to(path.with_name("gone"))


@pytest.mark.parametrize("make", [os.mkfifo, Path.mkdir, link_to_nothing])
@pytest.mark.parametrize("name", ["rows.jsonl", "rows.jsonl.card.md"])
def test_only_files_are_replaced_and_never_a_pipe_a_device_or_a_folder(tmp_path, name, make):
    make(tmp_path / name)
    before = (tmp_path / name).lstat()
    for force in (False, True):
        with pytest.raises(RunError, match=f"{name}: is there, and is no file of rows; choose"):
            write(source_of(tree_of("a"), agent=AGENT), tmp_path / "rows.jsonl", force=force)
    assert (tmp_path / name).lstat() == before
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("out", [Path("/"), Path()])
def test_a_folder_is_no_place_for_rows(out):
    with pytest.raises(RunError, match="is a folder, and the rows need a file"):
        write(source_of(tree_of("a"), agent=AGENT), out, force=True)
