"""A training that is stopped and started again ends in the very weights of an undisturbed one."""

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from safetensors.torch import load_file
from trainer.trainings import (
    LORA,
    metrics,
    model_of,
    stopping,
    toy_rows,
    train,
    trainer_of,
    write_rows,
)

from drl.errors import DataError, RunError
from drl.finetune.settings import LoraSettings
from tests.finetune.adapters import save_adapter
from tests.llm.tiny_model import save_tiny_model

FINAL = Path("checkpoints") / "final"
RESUME = Path("checkpoints") / "resume"
DROPOUT = LoraSettings(rank=4, alpha=8, dropout=0.3, modules="all-linear", quantize=None)
FIT = {"epochs": 2.0, "save_every": 2, "log_every": 3, "schedule": "linear", "accumulation": 2}
"""6 rows in batches of 2 x 2: an epoch has 2 updates, the second of which is half."""


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return save_tiny_model(tmp_path_factory.mktemp("model") / "base")


def weights(run: Path) -> dict:
    return load_file(run / FINAL / "adapter_model.safetensors")


def same(some: dict, others: dict) -> bool:
    return some.keys() == others.keys() and all((some[k] == others[k]).all() for k in some)


def setting(form, source, **changes):
    lora = DROPOUT if form == "sft" else LORA
    return trainer_of(form, source, lora=lora, fit=FIT | {"epochs": 3.0} | changes)


def model(base, tmp_path, start):
    if start == "new":
        return model_of(base)
    return model_of(base, adapter=str(save_adapter(base, tmp_path / "adapter", lora_dropout=0.2)))


@pytest.mark.parametrize("start", ["new", "trained"])
@pytest.mark.parametrize("form", ["sft", "dpo", "kto"])
def test_a_stopped_training_ends_as_an_undisturbed_one(base, tmp_path, form, start):
    source = write_rows(tmp_path / "rows.jsonl", toy_rows(form, 6))
    llm = model(base, tmp_path, start)
    straight, stopped = tmp_path / "straight", tmp_path / "stopped"
    undisturbed = train(setting(form, source), llm, straight)

    with pytest.raises(KeyboardInterrupt):  # in the middle of an epoch, with one update lost
        train(stopping(setting(form, source), 3), llm, stopped)
    assert [p.name for p in (stopped / RESUME).glob("checkpoint-*")] == ["checkpoint-2"]
    broken = stopped / RESUME / "checkpoint-4"  # as a kill leaves it while it is written
    broken.mkdir()
    shutil.copy(stopped / RESUME / "checkpoint-2" / "adapter_model.safetensors", broken)
    with pytest.raises(KeyboardInterrupt):
        train(stopping(setting(form, source), 4), llm, stopped)
    resumed = train(setting(form, source), llm, stopped)

    assert same(weights(stopped), weights(straight))
    assert metrics(stopped) == metrics(straight)
    updates = [entry["update"] for entry in metrics(stopped)]
    assert updates == sorted(set(updates))
    assert resumed["training"] == undisturbed["training"]
    assert resumed["data"] == undisturbed["data"]
    assert not (stopped / RESUME).exists()


def test_another_seed_gives_other_weights(base, tmp_path):
    source = write_rows(tmp_path / "rows.jsonl", toy_rows("sft", 6))
    for seed in (0, 1):
        train(setting("sft", source), model_of(base), tmp_path / str(seed), seed=seed)
    assert not same(weights(tmp_path / "0"), weights(tmp_path / "1"))


def test_a_training_that_was_stopped_after_its_last_update_only_keeps_its_result(base, tmp_path):
    source = write_rows(tmp_path / "rows.jsonl", toy_rows("sft", 6))
    straight, stopped = tmp_path / "straight", tmp_path / "stopped"
    undisturbed = train(setting("sft", source), model_of(base), straight)
    trainer = setting("sft", source)
    learning = trainer.learning

    def lost(*arguments):
        lesson = learning(*arguments)
        inner = lesson.trainer.train

        def train_then_stop(**named):
            inner(**named)
            raise KeyboardInterrupt

        lesson.trainer.train = train_then_stop
        return lesson

    trainer.learning = lost
    with pytest.raises(KeyboardInterrupt):
        train(trainer, model_of(base), stopped)
    assert not (stopped / FINAL).exists()
    again = train(setting("sft", source), model_of(base), stopped)
    assert same(weights(stopped), weights(straight))
    assert metrics(stopped) == metrics(straight)
    assert again["training"] == undisturbed["training"]


@pytest.mark.parametrize("form", ["sft", "dpo"])
def test_a_run_keeps_its_one_adapter_and_no_pickle(base, tmp_path, form):
    source = write_rows(tmp_path / "rows.jsonl", toy_rows(form, 4))
    llm = model(base, tmp_path, "trained")
    run = tmp_path / "run"
    train(trainer_of(form, source), llm, run)
    assert {path.name for path in (run / FINAL).rglob("*")} == {
        "README.md",
        "adapter_config.json",
        "adapter_model.safetensors",
    }
    assert [p.name for p in (run / "checkpoints").iterdir()] == ["final"]
    start = load_file(tmp_path / "adapter" / "adapter_model.safetensors")
    assert weights(run).keys() == start.keys()
    assert not same(weights(run), start)


def test_a_run_that_is_over_is_only_told_of(base, tmp_path, capsys):
    source = write_rows(tmp_path / "rows.jsonl", toy_rows("sft", 4))
    run = tmp_path / "run"
    summary = train(trainer_of("sft", source), model_of(base), run)
    before = {path: path.stat().st_mtime_ns for path in run.rglob("*") if path.name != ".lock"}
    source.unlink()
    assert train(trainer_of("sft", source), model_of(base), run) == json.loads(json.dumps(summary))
    assert before == {p: p.stat().st_mtime_ns for p in run.rglob("*") if p.name != ".lock"}
    assert capsys.readouterr().out.count("trained tokens") == 2


@pytest.mark.parametrize("name", ["adapter_model.safetensors", "optimizer.pt"])
def test_a_state_that_was_cut_is_passed_over_for_the_one_before(base, tmp_path, name):
    source = write_rows(tmp_path / "rows.jsonl", toy_rows("sft", 6))
    straight, stopped = tmp_path / "straight", tmp_path / "stopped"
    train(setting("sft", source), model_of(base), straight)
    with pytest.raises(KeyboardInterrupt):
        train(stopping(setting("sft", source), 5), model_of(base), stopped)
    for number in (4, 2):
        cut = stopped / RESUME / f"checkpoint-{number}" / name
        cut.write_bytes(cut.read_bytes()[:-9])
        if number == 4:
            shutil.copytree(stopped, tmp_path / "none")
            train(setting("sft", source), model_of(base), stopped)
            assert same(weights(stopped), weights(straight))
            assert metrics(stopped) == metrics(straight)
            shutil.rmtree(stopped)
            shutil.move(tmp_path / "none", stopped)
    message = rf"^{stopped / RESUME}: holds no state that can be read; remove it and start"
    with pytest.raises(RunError, match=message):
        train(setting("sft", source), model_of(base), stopped)


@pytest.mark.parametrize("is_over", [False, True])
def test_a_run_is_not_taken_up_with_rows_that_have_changed(base, tmp_path, is_over):
    rows = toy_rows("sft", 6)
    source, run = tmp_path / "rows.jsonl", tmp_path / "run"
    write_rows(source, [*rows[1:], {"messages": []}])
    with pytest.raises(DataError):  # before anything is learned, so the file may be mended
        train(setting("sft", source), model_of(base), run)
    write_rows(source, rows)
    if is_over:
        train(setting("sft", source), model_of(base), run)
    else:
        with pytest.raises(KeyboardInterrupt):
            train(stopping(setting("sft", source), 3), model_of(base), run)
    write_rows(source, rows[:5])
    with pytest.raises(RunError, match=rf"^{source}: has changed since {run} began to learn"):
        train(setting("sft", source), model_of(base), run)
    write_rows(source, rows)
    train(setting("sft", source), model_of(base), run)


COMMAND = """
import sys
sys.path[:0] = ["{root}", "{root}/tests"]
from pathlib import Path
from tests.trainer.test_resumption import setting
from tests.trainer.trainings import model_of, train
train(setting("sft", "{source}", epochs=40.0), model_of("{base}"), Path("{run}"))
"""


@pytest.mark.slow
def test_a_killed_process_loses_nothing_that_was_stored(base, tmp_path):
    source = write_rows(tmp_path / "rows.jsonl", toy_rows("sft", 6))
    straight, killed = tmp_path / "straight", tmp_path / "killed"
    train(setting("sft", source, epochs=40.0), model_of(base), straight)

    root = Path(__file__).parents[2]
    code = COMMAND.format(root=root, source=source, base=base, run=killed)
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.DEVNULL)
    while process.poll() is None and not list((killed / RESUME).glob("checkpoint-*")):
        time.sleep(0.002)
    time.sleep(0.1)  # somewhere between two states, or within one
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert not (killed / FINAL).exists()

    train(setting("sft", source, epochs=40.0), model_of(base), killed)
    assert same(weights(killed), weights(straight))
    assert metrics(killed) == metrics(straight)
