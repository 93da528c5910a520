"""`drl export` and the way back with `drl view`, on a real search."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cli.running import DATA, ROOT, drl, error_of

WHERE = ("--data-dir", DATA)


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """A search whose censored branches were resolved, so that pairs are known."""
    folder = tmp_path_factory.mktemp("run")
    choices = ["+experiment=toolwoz_josh", "+debug=tiny", "rollout.resolve_censored=2"]
    command = [sys.executable, "run.py", *choices, f"hydra.run.dir={folder}", f"data_dir={DATA}"]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return folder


def export(run: Path, out: Path, file_format: str, *options: str) -> dict[str, int]:
    """The counts that an export says it made."""
    arguments = ("--format", file_format, "--out", str(out), *WHERE, *options)
    done = drl("export", str(run), *arguments)
    assert done.returncode == 0, done.stderr
    # the three tasks of the run are of the published test split
    warning = done.stderr.splitlines()[0]
    assert re.fullmatch(rf"WARNING: {out}: rows of [123] tasks of the test split: .*", warning)
    return json.loads(done.stdout.splitlines()[-1])


def rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.slow
def test_rows_a_card_and_a_way_back(run, tmp_path):
    out = tmp_path / "new" / "pairs.jsonl"
    counts = export(run, out, "dpo", "--agent", "react/compact")
    found = rows(out)
    assert {path.name for path in out.parent.iterdir()} == {"pairs.jsonl", "pairs.jsonl.card.md"}
    assert counts["rows"] == counts["pairs"] == len(found) > 0
    assert counts["trees"] == 3
    first = found[0]
    assert first["prompt"][0]["role"] == "system"
    assert first["chosen"] != first["rejected"]

    card = Path(f"{out}.card.md").read_text()
    assert f"| pairs | {counts['pairs']} |" in card
    assert "agenda (first_wish=tentative" in card
    assert "python run.py +experiment=toolwoz_josh +debug=tiny" in card
    assert "`siblings`" in card
    assert "`agent=react/compact`" in card

    origin = first["origin"]
    place = {"task": origin["task_id"], "node": str(origin["nodes"][-1])}
    inside = run / "rows.jsonl"
    shutil.copy(out, inside)
    shown = drl("view", f"{inside}:1", "--no-open").stdout.strip()
    report, _, fragment = shown.partition("#")
    assert report == (run / "report.html").as_uri()
    expected = f"task={place['task']}&trial=0&node={place['node']}&tab=compare"
    assert fragment == expected
    named = ("--task", place["task"], "--node", place["node"], "--no-open")
    assert drl("view", str(run), *named).stdout.strip().endswith("&tab=turn")


@pytest.mark.slow
def test_an_export_repeats_byte_by_byte_and_replaces_only_when_told(run, tmp_path):
    out = tmp_path / "rows.jsonl"
    counts = export(run, out, "kto", "--agent", "react/compact")
    before = out.read_bytes()
    arguments = ("--format", "kto", "--out", str(out), "--agent", "react/compact", *WHERE)
    assert "is there already; add --force" in error_of(drl("export", str(run), *arguments))
    assert export(run, out, "kto", "--agent", "react/compact", "--force") == counts
    assert out.read_bytes() == before
    assert counts["positives"] + counts["negatives"] - counts["conflicts"] == counts["rows"]


@pytest.mark.slow
def test_openai_gets_tools_and_origins_beside_the_rows(run, tmp_path):
    out = tmp_path / "rows.jsonl"
    export(run, out, "openai", "--agent", "function_calling")
    (row,), (origin,) = rows(out)[:1], rows(Path(f"{out}.origins.jsonl"))[:1]
    assert set(row) == {"messages", "tools"}
    outputs = [message for message in row["messages"] if message["role"] == "assistant"]
    assert all(message["weight"] in (0, 1) for message in outputs)
    arguments = [
        call["function"]["arguments"]
        for message in outputs
        for call in message.get("tool_calls", ())
    ]
    assert arguments
    assert all(isinstance(json.loads(text), dict) for text in arguments)
    assert row["messages"][-1]["role"] == "assistant"
    assert origin["origin"]["task_id"].endswith(".json")


@pytest.mark.slow
def test_trees_of_another_version_of_the_data_are_refused(run, tmp_path):
    old = tmp_path / "old"
    shutil.copytree(run, old)
    provenance = json.loads((old / "provenance.json").read_text())
    provenance["data_version"] = "toolwoz-0"
    (old / "provenance.json").write_text(json.dumps(provenance))
    out = tmp_path / "rows.jsonl"
    arguments = ("--format", "sft", "--out", str(out), "--agent", "react", *WHERE)
    assert "its trees are of data toolwoz-0" in error_of(drl("export", str(old), *arguments))
    (old / "provenance.json").write_bytes((run / "provenance.json").read_bytes())
    (old / "rollouts.jsonl").write_text("")
    assert "there are no trees" in error_of(drl("export", str(old), *arguments))
    assert not list(tmp_path.glob("*rows*"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "RuleAgent, which is to write the rows, speaks through no model"),
        (["--agent", "nobody"], "agent=nobody is not known; known:"),
        (["--policy", "none_such"], "miner=none_such is not known; known: josh_clean, josh_paper"),
        (["--set", "limit=1"], "miner has no setting limit; known: full_success_only"),
        (["--set", "seed=1"], "miner has no setting seed"),
        (["--set", ""], "--set '': says no value; write KEY=VALUE"),
        (["--set", "limit"], "--set 'limit': says no value; write KEY=VALUE"),
        (["--set", "agent.style=full"], "--set agent.style=full: only settings of miner can be"),
        (["--conf", "nowhere"], "--conf nowhere: there is no nowhere/config.yaml"),
    ],
)
@pytest.mark.slow
def test_a_mistake_is_one_clear_line_and_nothing_is_written(run, tmp_path, arguments, message):
    out = ("--format", "sft", "--out", str(tmp_path / "rows.jsonl"), *WHERE)
    assert message in error_of(drl("export", str(run), *out, *arguments))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_places_that_are_not_there_are_named(run, tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"origin": 1}\n')
    for arguments, message in (
        ([str(run), "--task", "X"], "--task X, trial 0: there is no such tree; the first are"),
        ([str(run), "--node", "1"], "say which with --task ID"),
        ([f"{tmp_path}/rows.jsonl:1"], "rows.jsonl:1: names no origin"),
        ([f"{tmp_path}/rows.jsonl:2"], "rows.jsonl:2: there is no such line"),
        (["gone"], "gone does not exist; the newest runs with a report"),
    ):
        assert message in error_of(drl("view", *arguments, "--no-open"))


@pytest.mark.slow
def test_the_released_data_give_the_published_numbers(tmp_path):
    # counted from the released files by the recipe of josh-train
    assert drl("data", "josh_release", "--root", DATA).returncode == 0
    out = tmp_path / "rows.jsonl"
    arguments = ("josh_release", "--policy", "josh_paper", "--format", "kto", "--out", str(out))
    done = drl("export", *arguments, *WHERE)
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout.splitlines()[-1])
    expected = {
        "full_success": 631,
        "golden_paths": 420,
        "positives": 3283,
        "negatives": 911,
        "conflicts": 1,
    }
    assert expected.items() <= counts.items()
    labels = [row["label"] for row in rows(out)]
    assert (labels.count(True), labels.count(False)) == (3283, 910)
