import json
import os
import resource
import signal
import subprocess
import sys
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drl.errors import DataError, RunError
from drl.runtime.run_dir import ROLLOUTS
from drl.tree.codec import from_line, to_line
from drl.tree.dialogue_tree import DialogueTree
from drl.tree.store import RolloutStore, read_trees
from drl.types import Failure, RewardEvent, Role, Step, StopReason, ToolCall, ToolResult, Turn

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**50), 2**50) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def a_tree(task_id: str = "MUL0001.json", trial: int = 0) -> DialogueTree:
    tree = DialogueTree(task_id, trial, 2)
    tree.add(None, Turn(Role.USER, "hello"), (0, 1))
    call = ToolCall("search_hotel", {"area": "north", "stars": 3})
    step = Step("raw", "plan", (call,), (ToolResult([{"name": "acorn", "x": None}]),))
    node = tree.add(0, Turn(Role.AGENT, "found", (step, Step("r", reply="found"))), (1,))
    node.events = (RewardEvent(0.5, "goal", {"goal": 0}),)
    broken = tree.add(1, Turn(Role.USER, "", failure=Failure("user_simulator", "boom")), (1,))
    broken.stop = StopReason.ERROR
    ended = tree.add(1, Turn(Role.USER, "bye", hangs_up=True), (1,))
    ended.stop, ended.score = StopReason.USER_ENDED, 0.5
    return tree


@given(text=st.text(), value=JSON_VALUES, score=st.none() | st.floats(0, 1))
def test_a_tree_survives_its_line(text, value, score):
    tree = a_tree(task_id=text)
    step = Step(text, calls=(ToolCall(text, {"x": value}),), results=(ToolResult(value),))
    node = tree.add(1, Turn(Role.AGENT, None, (step,)), ())
    node.stop, node.score = StopReason.MAX_TURNS, score
    line = to_line(tree)
    assert b"\n" not in line
    assert from_line(line) == tree


@pytest.mark.parametrize(
    "arguments", ["text", None, {"x": object()}, {"x": "\ud800"}, {"x": b"\xff"}]
)
def test_what_could_not_be_read_back_is_not_written(tmp_path, arguments):
    tree = a_tree("a")
    tree.add(1, Turn(Role.AGENT, "x", (Step("", calls=(ToolCall("t", arguments),)),)), ())
    with RolloutStore(tmp_path) as store:
        with pytest.raises(DataError, match="stored"):
            store.append(tree)
        store.append(a_tree("b"))
    assert [tree.task_id for tree in read_trees(tmp_path / ROLLOUTS)] == ["b"]


def test_what_was_appended_is_done_and_can_be_read(tmp_path):
    with RolloutStore(tmp_path) as store:
        store.append(a_tree("a"))
        store.append(a_tree("a", trial=1))
    with RolloutStore(tmp_path) as store:
        assert store.done == {("a", 0), ("a", 1)}
        store.append(a_tree("b"))
    assert [tree.task_id for tree in read_trees(tmp_path / ROLLOUTS)] == ["a", "a", "b"]


def test_trees_come_by_task_and_trial_whenever_they_finished(tmp_path):
    file = tmp_path / ROLLOUTS
    keys = [("b", 0), ("a", 10), ("a", 2), ("c", 0), ('a"', 0)]
    lines = [to_line(a_tree(*key)) + b"\n" for key in keys]
    spaced = json.dumps(json.loads(to_line(a_tree("B", 1)))).encode() + b"\n"  # by another program
    file.write_bytes(b"".join([spaced, *lines, to_line(a_tree("0"))]))  # the last one is cut
    found = [(tree.task_id, tree.trial) for tree in read_trees(file)]
    assert found == [("B", 1), ("a", 2), ("a", 10), ('a"', 0), ("b", 0), ("c", 0)]
    file.write_bytes(b"".join([*reversed(lines), spaced]))
    assert [(tree.task_id, tree.trial) for tree in read_trees(file)] == found


@pytest.mark.parametrize("left", [1, 10, 200])
def test_a_cut_last_line_is_dropped_and_written_again(tmp_path, left):
    file = tmp_path / ROLLOUTS
    whole = to_line(a_tree("a")) + b"\n"
    file.write_bytes(whole + to_line(a_tree("b"))[:left])
    assert [tree.task_id for tree in read_trees(file)] == ["a"]
    with RolloutStore(tmp_path) as store:
        assert store.done == {("a", 0)}
        store.append(a_tree("b"))
    assert file.read_bytes() == whole + to_line(a_tree("b")) + b"\n"


def test_what_broke_runs_again_and_the_last_attempt_counts(tmp_path):
    broken = DialogueTree("a", 0, 1)
    failed = Turn(Role.AGENT, "", failure=Failure("agent", "boom"))
    broken.add(None, failed, ()).stop = StopReason.ERROR
    mended = a_tree("a")
    mended.nodes[1].stop, mended.nodes[1].score = StopReason.MAX_TURNS, 0.5
    with RolloutStore(tmp_path) as store:
        store.append(broken)
    with RolloutStore(tmp_path) as store:
        assert store.done == set()
        store.append(mended)
    with RolloutStore(tmp_path) as store:
        assert store.done == {("a", 0)}
    assert list(read_trees(tmp_path / ROLLOUTS)) == [mended]


def test_a_broken_line_in_between_is_named(tmp_path):
    (tmp_path / ROLLOUTS).write_bytes(to_line(a_tree("a")) + b'\n{"task_id": 3}\n')
    with pytest.raises(DataError, match=r"rollouts\.jsonl:2: not a stored tree"):
        list(read_trees(tmp_path / ROLLOUTS))


@pytest.mark.parametrize("parent", [0, 1, 7, -1])
def test_a_node_whose_parent_does_not_come_before_it_is_refused(tmp_path, parent):
    # root 0 and its child 1; the child claims itself, a later node, or (as root) itself as parent
    line = to_line(a_tree("a")).decode()
    tree = json.loads(line)
    tree["nodes"][0 if parent in (0, -1) else 1]["parent"] = parent
    (tmp_path / ROLLOUTS).write_text(json.dumps(tree) + "\n")
    with pytest.raises(DataError, match=r"rollouts\.jsonl:1: not a stored tree: nodes\."):
        list(read_trees(tmp_path / ROLLOUTS))


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_score_or_a_reward_that_is_no_number_is_refused(tmp_path, number):
    line = to_line(a_tree()).decode()
    for before, place in (('"score":0.5', "nodes.3.score"), ('"amount":0.5', "nodes.1.events.0")):
        assert before in line
        key = before.partition(":")[0]
        (tmp_path / ROLLOUTS).write_text(line.replace(before, f"{key}:{number}") + "\n")
        with pytest.raises(DataError, match=rf":1: not a stored tree: {place}.*finite number"):
            list(read_trees(tmp_path / ROLLOUTS))


def test_a_score_that_is_no_number_is_not_written():
    tree = a_tree()
    tree.nodes[-1].score = float("nan")
    with pytest.raises(DataError, match=r"nodes\.3\.score: nan must be a finite number"):
        to_line(tree)


def test_a_dialogue_that_ends_without_a_reason_is_refused(tmp_path):
    line = json.loads(to_line(a_tree()))
    del line["nodes"][3]["stop"]
    (tmp_path / ROLLOUTS).write_text(json.dumps(line) + "\n")
    with pytest.raises(DataError, match=r":1: not a stored tree: nodes\.3: nothing follows and it"):
        list(read_trees(tmp_path / ROLLOUTS))
    # what was only tried out afterwards does not go on with it
    tree = a_tree()
    tree.nodes[3].stop = None
    last = tree.add(3, Turn(Role.AGENT, "bye"), ())
    last.stop, last.continuation = StopReason.MAX_TURNS, True
    with pytest.raises(DataError, match=r"nodes\.3: nothing follows"):
        to_line(tree)
    tree.nodes[3].stop = StopReason.COLLAPSED
    assert from_line(to_line(tree)) == tree


def test_a_full_disk_keeps_what_was_stored(tmp_path):
    limit = len(to_line(a_tree("a"))) * 3 // 2
    script = textwrap.dedent(
        """
        import sys
        sys.path[:0] = sys.argv[2].split(":")
        from pathlib import Path
        from tree.test_store import a_tree, fill
        fill(Path(sys.argv[1]))
        """
    )
    tests = os.path.dirname(os.path.dirname(__file__))
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path), tests],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    assert "what is in it is safe; make room" in done.stdout, done.stderr
    assert [tree.task_id for tree in read_trees(tmp_path / ROLLOUTS)] == ["a"]


def fill(folder):
    """Append until the file-size limit of the process, which stands for a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with RolloutStore(folder) as store:
        store.append(a_tree("a"))
        try:
            store.append(a_tree("b"))
        except RunError as error:
            print(error)
