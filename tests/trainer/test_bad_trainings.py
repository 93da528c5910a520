"""Trainings that cannot be: one clear line each, as early as can be, and nothing half-saved."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from mining.forest import agent_of
from safetensors.torch import load_file, save_file
from trainer.small_runs import start
from trainer.trainings import (
    agent,
    model_of,
    parts_of,
    stopping,
    toy_rows,
    train,
    trainer_of,
    user,
    write_rows,
)

from drl.errors import ConfigError, DataError, RunError
from drl.finetune.settings import DataSettings, LoraSettings
from drl.launch import run
from drl.miner.josh_clean import JoshCleanMiner
from tests.finetune.adapters import save_adapter
from tests.llm.asking import make
from tests.llm.tiny_model import save_tiny_model

CONF = Path(__file__).parents[2] / "conf"


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return save_tiny_model(tmp_path_factory.mktemp("model") / "base")


def refusal(trainer, llm, folder: Path, **parts) -> str:
    """The one line that says why there is no training; nothing stands for a result."""
    with pytest.raises((ConfigError, DataError, RunError)) as refused:
        train(trainer, llm, folder, **parts)
    assert not (folder / "summary.json").exists()
    assert not (folder / "checkpoints" / "final").exists()
    assert not list(folder.rglob("*.draft"))
    message = str(refused.value)
    assert "\n" not in message
    return message


GOOD = {"prompt": [user("a")], "completion": [agent("b")], "label": True}


@pytest.mark.parametrize(
    ("form", "line", "cause"),
    [
        ("kto", json.dumps(GOOD | {"label": float("nan")}), "label=nan must be true or false"),
        ("kto", json.dumps(GOOD | {"label": None}), "label=None must be true or false"),
        ("kto", json.dumps(GOOD | {"label": 1}), "label=1 must be true or false"),
        ("kto", '{"prompt": []}', "prompt must be a list of messages"),
        ("kto", '{"prompt": "a", "completion": "b"}', "prompt must be a list of messages"),
        ("kto", json.dumps(GOOD | {"completion": [user("b")]}), "one message of the assistant"),
        ("sft", json.dumps(GOOD), "messages must be a list of messages"),
        ("dpo", json.dumps(toy_rows("sft", 1)[0]), "prompt must be a list of messages"),
        ("dpo", json.dumps(GOOD), "chosen must be a list of messages"),
        ("sft", json.dumps({"messages": [user("a")]}), "no message of the assistant is trained"),
        (
            "sft",
            json.dumps({"messages": [agent("a")], "trained": []}),
            "no message of the assistant is trained",
        ),
        (
            "sft",
            json.dumps({"messages": [agent("a")], "trained": [[0]]}),
            "trained must list positions of messages of the assistant",
        ),
        ("sft", json.dumps({"messages": [{"role": "tester", "content": ""}]}), "needs a role of"),
        ("sft", json.dumps({"messages": [{"role": "user", "content": 0}]}), "a text as content"),
        (
            "sft",
            json.dumps({"messages": [agent("a") | {"tool_calls": [{"function": {}}]}]}),
            "objects with a function that has a name",
        ),
        ("sft", json.dumps({"messages": [agent("a")], "tools": "x"}), "Expecting value"),
        ("sft", json.dumps({"messages": [agent("a")], "tools": [{"function": {}}]}), "have names"),
        ("sft", "[1]", "it is no object"),
        ("sft", '{"messages": ', "Expecting value"),
        ("sft", "[" * 100_000, "recursion"),
    ],
)
def test_a_faulty_row_is_named_by_file_and_line(base, tmp_path, form, line, cause):
    source = tmp_path / "rows.jsonl"
    source.write_text(json.dumps(toy_rows(form, 1)[0]) + "\n\n" + line + "\n")
    message = refusal(trainer_of(form, source), model_of(base), tmp_path / "run")
    assert message.startswith(f"{source}:3: is no row for {form} (")
    assert cause in message


@pytest.mark.parametrize("weight", [float("nan"), float("inf"), 0, -1, "1", True, 10**400])
def test_a_weight_of_a_pair_is_a_number_above_zero(base, tmp_path, weight):
    source = write_rows(tmp_path / "rows.jsonl", [toy_rows("dpo", 1)[0] | {"weight": weight}])
    message = refusal(trainer_of("dpo", source), model_of(base), tmp_path / "run")
    assert "must be a number above 0" in message


def test_a_line_that_is_no_text_is_a_faulty_row(base, tmp_path):
    source = tmp_path / "rows.jsonl"
    source.write_bytes(b'{"messages": "\xff"}\n')
    message = refusal(trainer_of("sft", source), model_of(base), tmp_path / "run")
    assert message.startswith(f"{source}:1: is no row for sft ('utf-8' codec can't decode")


def test_a_source_holds_rows(base, tmp_path):
    llm = model_of(base)
    assert refusal(trainer_of("sft"), llm, tmp_path / "0").startswith(
        "trainer.source=[] names nothing to learn from"
    )
    nowhere = tmp_path / "none.jsonl"
    assert refusal(trainer_of("sft", nowhere), llm, tmp_path / "1") == (
        f"{nowhere}: cannot be read (No such file or directory); name a file of rows"
    )
    empty = write_rows(tmp_path / "empty.jsonl", [])
    assert f"{empty}: holds no rows" in refusal(trainer_of("sft", empty), llm, tmp_path / "2")
    miner = JoshCleanMiner(**MINER)
    no_run = refusal(trainer_of("sft", base), llm, tmp_path / "3", miner=miner, config=MINED)
    assert f"{base}: has no rollouts.jsonl" in no_run
    assert "miner is not chosen" in refusal(trainer_of("sft", base), llm, tmp_path / "4")


MINER = {
    "full_success_only": True,
    "max_per_node": None,
    "max_per_tree": None,
    "max_length_ratio": None,
}
MINED = {"miner": {"_target_": "drl.miner.josh_clean.JoshCleanMiner"}}


def test_a_run_without_a_success_gives_no_rows(base, tmp_path):
    played = ["+experiment=own_environment", "agent=silent", f"hydra.run.dir={tmp_path / 'played'}"]
    source = run(CONF, played)
    folder = tmp_path / "run"
    agent_node = {"agent": {"_target_": "drl.agent.react.ReactAgent"}}
    parts = {"miner": JoshCleanMiner(**MINER), "agent": agent_of("react")}
    parts["config"] = MINED | agent_node
    message = refusal(trainer_of("sft", source), model_of(base), folder, **parts)
    assert "finds nothing in 8 trees, none of which reached all goals" in message
    assert not list((folder / "data").iterdir())


def test_rows_that_are_all_too_long_are_no_rows(base, tmp_path):
    source = write_rows(tmp_path / "rows.jsonl", toy_rows("dpo", 5))
    data = DataSettings(max_rows=None, max_tokens=None, max_length=8, too_long="drop")
    message = refusal(trainer_of("dpo", source, data=data), model_of(base), tmp_path / "run")
    assert message.startswith(
        "none of the 5 rows can be learned from, 5 sequences are longer than 8 tokens "
        "(trainer.data.max_length=8"
    )


def test_kto_needs_good_and_bad_rows(base, tmp_path):
    source = write_rows(
        tmp_path / "rows.jsonl", [row | {"label": True} for row in toy_rows("kto", 4)]
    )
    message = refusal(trainer_of("kto", source), model_of(base), tmp_path / "run")
    assert message.startswith("there are 4 good and 0 bad outputs, and KTO needs both")


@pytest.mark.parametrize(("batch_size", "advice"), [(2, "learn"), (3, "lower it, or learn")])
def test_kto_of_one_task_is_told_what_can_be_done(base, tmp_path, batch_size, advice):
    origin = {"run": "r", "task_id": "a", "nodes": [0]}
    rows = [row | {"origin": origin} for row in toy_rows("kto", 4)]
    source = write_rows(tmp_path / "rows.jsonl", rows)
    trainer = trainer_of("kto", source, fit={"batch_size": batch_size})
    message = refusal(trainer, model_of(base), tmp_path / "run")
    assert message.endswith(f"={batch_size} different tasks; {advice} from more tasks")


def test_kto_needs_two_rows_in_a_batch():
    with pytest.raises(ConfigError, match=r"trainer\.fit\.batch_size=1 must be at least 2"):
        trainer_of("kto", "x.jsonl", fit={"batch_size": 1})


@pytest.mark.parametrize(
    ("form", "changes", "message"),
    [
        ("dpo", {"beta": 0.0}, r"trainer\.beta=0\.0 must be above 0"),
        ("dpo", {"beta": float("nan")}, r"trainer\.beta=nan must be above 0"),
        ("dpo", {"label_smoothing": 0.5}, r"must lie in \[0, 0\.5\)"),
        ("dpo", {"sft_weight": -0.1}, "must not be negative"),
        ("kto", {"undesirable_weight": 0.0}, r"trainer\.undesirable_weight=0\.0 must be above 0"),
        ("sft", {"fit": {"learning_rate": 0.0}}, r"trainer\.fit\.learning_rate=0\.0 must be above"),
        ("sft", {"fit": {"save_every": 0}}, r"trainer\.fit\.save_every=0"),
    ],
)
def test_settings_break_no_rule(form, changes, message):
    with pytest.raises(ConfigError, match=message):
        trainer_of(form, "x.jsonl", **changes)


def lora(**changes) -> LoraSettings:
    return LoraSettings(
        **({"rank": 4, "alpha": 8, "dropout": 0.0, "modules": "all-linear", "quantize": None}
           | changes)
    )  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"lora": lora(quantize="4bit")}, "trainer.lora.quantize=4bit needs a GPU"),
        (
            {"fit": {"attention": "flash_attention_2"}},
            "trainer.fit.attention=flash_attention_2 needs a GPU",
        ),
        ({"fit": {"optimizer": "adamw_8bit"}}, "trainer.fit.optimizer=adamw_8bit cannot be used"),
        ({"fit": {"optimizer": "newton"}}, "trainer.fit.optimizer=newton cannot be used here"),
    ],
)
def test_what_this_machine_lacks_is_said_before_rows_are_read(base, tmp_path, changes, message):
    nowhere = tmp_path / "none.jsonl"
    said = refusal(trainer_of("sft", nowhere, **changes), model_of(base), tmp_path / "run")
    assert said.startswith(message)


@pytest.mark.parametrize(
    ("modules", "message"),
    [
        (["nothing"], "trainer.lora.modules=['nothing'] does not fit"),
        (["q_proj", "lm_head"], "change the output layer, which TRL cannot train"),
    ],
)
def test_an_adapter_changes_layers_that_can_be_trained(base, tmp_path, modules, message):
    source = write_rows(tmp_path / "rows.jsonl", toy_rows("dpo", 2))
    trainer = trainer_of("dpo", source, lora=lora(modules=modules))
    assert message in refusal(trainer, model_of(base), tmp_path / "run")


def test_a_model_behind_a_server_is_not_trained(tmp_path):
    llm = make("openai", model="some")
    with pytest.raises(ConfigError, match=r"llm\.model=some is not on this machine"):
        start(trainer_of("sft", "x.jsonl"), _served(llm), tmp_path / "run")


def _served(llm):
    return replace(parts_of(None), llm=llm)


def test_an_adapter_to_go_on_from_is_whole_and_of_this_model(base, tmp_path):
    source = write_rows(tmp_path / "rows.jsonl", toy_rows("sft", 2))
    adapter = save_adapter(base, tmp_path / "adapter")
    trainer = trainer_of("sft", source)

    bare = tmp_path / "bare"
    shutil.copytree(adapter, bare)
    (bare / "adapter_config.json").unlink()
    message = refusal(trainer, model_of(base, adapter=str(bare)), tmp_path / "0")
    assert message.startswith(f"llm.adapter={bare}")

    other = save_tiny_model(tmp_path / "other", seed=1)
    message = refusal(trainer, model_of(other, adapter=str(adapter)), tmp_path / "1")
    assert f"llm.adapter={adapter} was trained on {base}" in message

    run = tmp_path / "run"
    run.mkdir()
    message = refusal(trainer, model_of(base, adapter=str(run)), tmp_path / "2")
    assert message.startswith(f"llm.adapter={run} holds no adapter_model.safetensors")


@pytest.mark.parametrize("form", ["sft", "dpo", "kto"])
def test_weights_that_are_lost_end_the_training_before_they_are_stored(base, tmp_path, form):
    source = write_rows(tmp_path / "rows.jsonl", toy_rows(form))
    run = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        train(stopping(trainer_of(form, source, fit={"save_every": 1}), 2), model_of(base), run)
    state = run / "checkpoints" / "resume" / "checkpoint-2" / "adapter_model.safetensors"
    before = state.read_bytes()
    broken = load_file(state)
    next(iter(broken.values())).fill_(float("inf"))
    save_file(broken, state)
    message = refusal(trainer_of(form, source, fit={"save_every": 1}), model_of(base), run)
    assert message.startswith("the weights are no numbers any more after update 3; lower")
    assert {p.name for p in (run / "checkpoints" / "resume").glob("checkpoint-*")} == {
        "checkpoint-1",
        "checkpoint-2",
    }
    state.write_bytes(before)  # and with sound weights it goes on
    assert train(trainer_of(form, source, fit={"save_every": 1}), model_of(base), run)


def test_a_huge_learning_rate_ends_in_a_clear_error(base, tmp_path):
    source = write_rows(tmp_path / "rows.jsonl", toy_rows("sft"))
    trainer = trainer_of("sft", source, fit={"learning_rate": 1e30, "max_grad_norm": 1e9})
    message = refusal(trainer, model_of(base), tmp_path / "run")
    assert "lower trainer.fit.learning_rate" in message
