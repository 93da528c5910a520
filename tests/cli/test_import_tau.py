"""`drl export --format tau` and the way back with `drl import tau`, on real tasks."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cli.running import DATA, ROOT, drl, error_of

pytestmark = pytest.mark.slow

IDS = "[retail-test-0,retail-test-2,retail-test-10,retail-test-24]"


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """Two tries at tasks of which one asks for words that no goal tells the oracle."""
    folder = tmp_path_factory.mktemp("run")
    choices = ["+experiment=tau_retail_eval", "agent=oracle", f"dataset.ids={IDS}"]
    choices += ["trainer.trials=2", f"hydra.run.dir={folder}", f"data_dir={DATA}"]
    subprocess.run([sys.executable, "run.py", *choices], cwd=ROOT, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def files(run, tmp_path_factory) -> dict[str, Path]:
    """The run as tau-bench would have written it, in both forms."""
    folder = tmp_path_factory.mktemp("files")
    found = {}
    for agent in ("function_calling/tau", "react/tau"):
        found[agent] = folder / f"{agent.partition('/')[0]}.json"
        arguments = ("--format", "tau", "--agent", agent, "--out", str(found[agent]))
        done = drl("export", str(run), *arguments, "--data-dir", DATA)
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("Results: 8 in ")
    return found


def take(file: Path, to: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return drl("import", "tau", str(file), *options, f"hydra.run.dir={to}", f"data_dir={DATA}")


def summary(run: Path) -> dict:
    return json.loads((run / "summary.json").read_text())


def test_a_run_without_a_model_is_told_which_form_to_write_in(run, tmp_path):
    file = str(tmp_path / "results.json")
    arguments = ("--format", "tau", "--out", file, "--data-dir", DATA)
    line = error_of(drl("export", str(run), *arguments))
    assert "OracleAgent" in line
    assert "--agent function_calling/tau, or react/tau" in line


def test_both_forms_come_back_with_their_grades_and_stand_beside_each_other(run, files, tmp_path):
    for agent, file in files.items():
        done = take(file, tmp_path / file.stem)
        assert done.returncode == 0, done.stderr
        assert "published one in 8 of 8 dialogues (100.0%)" in done.stdout
        found = summary(tmp_path / file.stem)
        # task 24 asks for words and has no goal, so the oracle does not say them
        assert found["pass_hat_k"]["2"]["value"] == summary(run)["pass_hat_k"]["2"]["value"] == 0.75
        assert found["modes"]["agent"].startswith(agent.partition("/")[0])
        assert found["regrading"]["n_tool_calls_that_give_something_else_here"] == 0
        shown = drl("view", str(tmp_path / file.stem), "--task", "retail-test-2", "--no-open")
        assert shown.stdout.startswith("file://")
    folders = [str(tmp_path / file.stem) for file in files.values()]
    (line,) = drl("compare", *folders, "--json").stdout.splitlines()
    compared = json.loads(line)
    assert (compared["comparable"], compared["n_tasks"]) == (True, 4)


def test_a_grade_that_is_not_ours_is_listed_with_its_reason(files, tmp_path):
    results = json.loads(files["react/tau"].read_text())
    wrong = next(result for result in results if result["task_id"] == 24)
    wrong["reward"] = 1.0
    file = tmp_path / "tool-calling-some-model-0.5_range_0--1_user-gpt-4o-llm_0101120000.json"
    file.write_text(json.dumps(results))
    done = take(file, tmp_path / "run", "--rules", "josh")
    assert done.returncode == 0, done.stderr
    assert "published one in 7 of 8 dialogues" in done.stdout
    assert re.search(r"retail-test-24, trial 0: published 1, ours 0: here database=", done.stdout)
    modes = summary(tmp_path / "run")["modes"]
    assert "some-model" in modes["llm"]
    assert "gpt-4o" in modes["user_llm"]
    assert "rules=josh" in modes["score"]


def test_calls_that_give_something_else_are_kept_and_who_played_is_asked_for(files, tmp_path):
    results = json.loads(files["function_calling/tau"].read_text())
    messages = [message for result in results for message in result["traj"]]
    given = next(message for message in messages if message["role"] == "tool")
    given["content"] = "something else"
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(results))
    done = take(file, tmp_path / "run", "llm.model=gpt-4o")
    assert done.returncode == 0, done.stderr
    kept = tmp_path / "run" / "tool_calls_that_differ.jsonl"
    assert re.search(r"1 of \d+ tool calls give something else here, see ", done.stdout)
    assert "--data tau1_old" in done.stdout
    (one,) = map(json.loads, kept.read_text().splitlines())
    assert one["published"] == "something else"
    assert one["ours"].startswith("{")
    assert "Who played is not known" in done.stdout
    assert "Kept as agent=function_calling/tau user_llm.model=unknown; say" in done.stdout


def test_a_file_of_other_tasks_is_one_clear_error(files, tmp_path):
    file = files["react/tau"]
    line = error_of(take(file, tmp_path / "a", "--domain", "airline"))
    assert "name the domain and the split that it was made on" in line
    results = json.loads(file.read_text())
    results[3]["task_id"] = 115
    (tmp_path / "past.json").write_text(json.dumps(results))
    line = error_of(take(tmp_path / "past.json", tmp_path / "b"))
    assert "result 3 has task_id 115, and the tasks chosen are 0 to 114" in line
    (tmp_path / "broken.json").write_text(file.read_text()[:-50])
    assert "not a result file" in error_of(take(tmp_path / "broken.json", tmp_path / "c"))
    assert "no such" in error_of(take(tmp_path / "none.json", tmp_path / "d")).lower()
    line = error_of(take(file, tmp_path / "e", "--split", "validation"))
    assert "dataset.split=validation" in line


def test_rows_to_learn_from_carry_the_tools(run, tmp_path):
    for file_format, options in (
        ("sft", ("--agent", "function_calling/tau")),
        ("kto", ("--agent", "function_calling/tau")),
        ("openai", ("--agent", "function_calling/tau")),
    ):
        out = tmp_path / f"{file_format}.jsonl"
        done = drl(
            *("export", str(run), "--format", file_format, "--out", str(out)),
            *(*options, "--data-dir", DATA),
        )
        assert done.returncode == 0, done.stderr
        rows = [json.loads(line) for line in out.read_text().splitlines()]
        assert rows
        for row in rows:
            names = [tool["function"]["name"] for tool in row["tools"]]
            assert len(names) == 16
            assert "cancel_pending_order" in names
