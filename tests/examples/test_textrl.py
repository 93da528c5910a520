"""Each program of TextRL's readme runs, offline and on a tiny model, and its model learns."""

import re
import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples" / "textrl"


@pytest.fixture
def run(monkeypatch, capsys):
    """Runs a program of the folder with arguments; gives what it prints."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.syspath_prepend(str(EXAMPLES))

    def ran(name: str, *arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", [name, *arguments])
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
        return capsys.readouterr().out

    yield ran
    sys.modules.pop("tiny", None)


def line(output: str, begins: str) -> str:
    """The rest of the line that begins so."""
    (found,) = (each for each in output.splitlines() if each.startswith(begins))
    return found.removeprefix(begins)


@pytest.mark.slow
def test_a_causal_model_learns_from_finished_texts(run, tmp_path):
    output = run("gpt2_like.py", "--outdir", str(tmp_path))
    scores = [float(each) for each in re.findall(r"[\d.]+", line(output, "score of evaluations:"))]
    assert sum(scores[-3:]) > 1.3 * sum(scores[:3])
    assert (tmp_path / "400_finish").is_dir()
    assert (tmp_path / "scores.txt").is_file()


@pytest.mark.slow
def test_an_encoder_decoder_learns_to_sound_good(run, tmp_path):
    output = run("flan_t5_sentiment.py", "--outdir", str(tmp_path))
    assert good(line(output, "after:")) > good(line(output, "before:"))


@pytest.mark.slow
def test_candidates_that_are_compared_become_what_is_asked_for(run, tmp_path):
    output = run("controllable_generation.py", "--outdir", str(tmp_path))
    assert good(line(output, "after:")) < good(line(output, "before:"))


@pytest.mark.slow
def test_the_loop_written_out_learns(run):
    output = run("manual_loop.py")
    assert "n_updates" in output
    assert "explained_variance" in output
    first, last = (
        sum(map(float, re.findall(r"[\d.]+", rewards)))
        for rewards in re.findall(r"R: \[(.*?)\]", output)
    )
    assert last > first


@pytest.mark.slow
def test_the_output_layer_of_a_model_elsewhere_learns(run, tmp_path):
    output = run("petals_like.py", "--outdir", str(tmp_path))
    assert good(line(output, "after:")) > good(line(output, "before:"))


def good(text: str) -> int:
    """Good words less bad ones."""
    import tiny

    words = re.findall(r"\w+", text)
    return sum(word in tiny.GOOD for word in words) - sum(word in tiny.BAD for word in words)
