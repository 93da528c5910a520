"""One training by several processes: the first one mines and writes, all of them learn."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from safetensors.torch import load_file

from drl.errors import ConfigError
from drl.launch import run
from drl.runtime.run_dir import RunDir
from tests.llm.tiny_model import llama, save_tiny_model

ROOT = Path(__file__).parents[2]
CONF = ROOT / "conf"


def training(form: str, source: Path, base: Path, folder: Path, batch_size: int) -> list[str]:
    """What is said on the command line; an update takes two rows of all processes together."""
    return [
        *(f"trainer={form}", f"trainer.source=[{source}]", "trainer.check_forgetting=false"),
        *("miner=josh_clean", "agent=react/compact", "llm=hf", f"llm.model={base}"),
        *("llm.device=cpu", "llm.dtype=float32", "trainer.data.max_length=8192"),
        *("trainer.data.max_rows=4", "trainer.fit.epochs=2"),
        *("trainer.fit.learning_rate=1e-2", "trainer.fit.log_every=1", "trainer.fit.save_every=2"),
        *(f"trainer.fit.batch_size={batch_size}", "trainer.fit.accumulation=1"),
        f"hydra.run.dir={folder}",
    ]


@pytest.mark.slow
def test_two_processes_learn_what_one_learns(tmp_path):
    """Each of the two takes one row where the one process takes both."""
    base = save_tiny_model(tmp_path / "base", llama(max_position_embeddings=8192))
    source = run(CONF, ["+experiment=own_environment", f"hydra.run.dir={tmp_path / 'played'}"])
    run(CONF, training("sft", source, base, tmp_path / "one", 2))
    launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "run.py"]
    done = subprocess.run(
        [*launcher, *training("sft", source, base, tmp_path / "two", 1)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("trained tokens") == 1  # the first one tells of it

    rows, updates = [], []
    for name in ("one", "two"):
        folder = tmp_path / name
        summary = json.loads((folder / "summary.json").read_text())
        rows.append(summary["data"])
        updates.append(summary["training"]["updates"])
        assert (folder / "data" / "train.jsonl.card.md").is_file()
        lines = (folder / "metrics.jsonl").read_text().splitlines()
        assert [json.loads(line)["update"] for line in lines] == list(range(1, updates[0] + 1))
    assert rows[0] == rows[1]
    assert rows[0]["sequences"] == 4
    assert updates == [2 * 2] * 2  # in each of two epochs
    one, two = (
        load_file(tmp_path / name / "checkpoints" / "final" / "adapter_model.safetensors")
        for name in ("one", "two")
    )
    assert one.keys() == two.keys()
    assert all((one[name] - two[name]).abs().max() < 1e-4 for name in one)


def test_other_processes_neither_lock_nor_write(tmp_path, monkeypatch):
    with RunDir(tmp_path / "run") as first:
        assert first.leads
        first.claim({"name": "x", "seed": 0})
        before = (tmp_path / "run" / "provenance.json").read_text()
        monkeypatch.setenv("RANK", "1")
        with RunDir(tmp_path / "run") as second:
            assert not second.leads
            second.claim({"name": "y", "seed": 1})
        assert (tmp_path / "run" / "provenance.json").read_text() == before


def test_work_that_is_done_by_one_process_is_not_begun_by_others(tmp_path, monkeypatch):
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(ConfigError, match="RANK=1 makes this one of several processes, but Eval"):
        run(CONF, ["+experiment=own_environment", f"hydra.run.dir={tmp_path / 'run'}"])
    assert not (tmp_path / "run").exists()
