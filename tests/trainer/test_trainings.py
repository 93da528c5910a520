"""SFT, DPO and KTO from rows to an adapter: what falls, what is written, and what it says."""

import json
import logging
import os
import warnings
from pathlib import Path

import pytest
from cli.running import DATA
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file
from trainer.trainings import (
    DATA as ROWS,
)
from trainer.trainings import (
    agent,
    metrics,
    model_of,
    toy_rows,
    train,
    trainer_of,
    user,
    write_rows,
)

from drl.errors import DataError
from drl.finetune.kto_batches import batches, mismatched, undesirable_weight
from drl.finetune.settings import DataSettings
from drl.launch import run
from tests.llm.tiny_model import llama, save_tiny_model

CONF = Path(__file__).parents[2] / "conf"
COMMON = {"update", "loss", "learning_rate", "grad_norm"}
KEYS = {
    "sft": COMMON | {"mean_token_accuracy", "entropy"},
    "dpo": COMMON
    | {"logps/chosen", "logps/rejected", "rewards/chosen", "rewards/margins", "rewards/accuracies"},
    "kto": COMMON | {"kl"},
}


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return save_tiny_model(tmp_path_factory.mktemp("model") / "base")


@pytest.mark.parametrize("form", ["sft", "dpo", "kto"])
def test_a_toy_is_learned_quietly_and_in_its_folder_alone(
    base, tmp_path, form, monkeypatch, capfd, caplog
):
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(home)
    source = write_rows(tmp_path / "rows.jsonl", toy_rows(form))
    folder = tmp_path / "run"
    with caplog.at_level(logging.WARNING), warnings.catch_warnings():
        warnings.simplefilter("error")
        train(trainer_of(form, source, fit={"epochs": 4.0}), model_of(base), folder)

    logged = metrics(folder)
    assert [entry["update"] for entry in logged] == list(range(1, 17))
    assert all(entry.keys() >= KEYS[form] for entry in logged)
    assert sum(e["loss"] for e in logged[-4:]) < 0.7 * sum(e["loss"] for e in logged[:4])
    if form == "dpo":
        assert logged[0]["rewards/margins"] == 0
        assert logged[-1]["rewards/margins"] > 1
        assert logged[-1]["logps/chosen"] > logged[0]["logps/chosen"]
    assert not any(home.iterdir())
    assert {path.name for path in folder.iterdir()} == {
        *(
            ".hydra",
            ".lock",
            "checkpoints",
            "data",
            "metrics.jsonl",
            "provenance.json",
            "summary.json",
        ),
    }
    assert capfd.readouterr().err == ""
    assert not caplog.records


@pytest.mark.parametrize("form", ["sft", "dpo", "kto"])
def test_activations_can_be_computed_twice_instead_of_kept(base, tmp_path, form):
    source = write_rows(tmp_path / "rows.jsonl", toy_rows(form))
    logged = []
    for recomputes in (False, True):
        trainer = trainer_of(form, source, fit={"activation_checkpointing": recomputes})
        folder = tmp_path / str(recomputes)
        train(trainer, model_of(base), folder)
        logged.append([entry["loss"] for entry in metrics(folder)])
    assert logged[0] == pytest.approx(logged[1], rel=1e-5)


@pytest.mark.parametrize("form", ["sft", "dpo", "kto"])
def test_an_adapter_of_a_model_in_bfloat16_is_trained_in_float32(base, tmp_path, form):
    source = write_rows(tmp_path / "rows.jsonl", toy_rows(form))
    trainer = trainer_of(form, source, fit={"epochs": 4.0, "attention": "sdpa"})
    train(trainer, model_of(base, dtype="bfloat16"), tmp_path / "run")
    losses = [entry["loss"] for entry in metrics(tmp_path / "run")]
    assert sum(losses[-4:]) < 0.7 * sum(losses[:4])
    kept = load_file(tmp_path / "run" / "checkpoints" / "final" / "adapter_model.safetensors")
    assert {str(weight.dtype) for weight in kept.values()} == {"torch.float32"}


@pytest.mark.parametrize("form", ["sft", "dpo", "kto"])
def test_a_training_of_one_update_learns_though_it_asks_for_a_warm_up(base, tmp_path, form):
    source = write_rows(tmp_path / "rows.jsonl", toy_rows(form, 2))
    fit = {"schedule": "linear", "warmup": 0.05}  # as conf/trainer/sft.yaml has it
    told = train(trainer_of(form, source, fit=fit), model_of(base), tmp_path / "run")["training"]
    assert told["updates"] == 1
    assert metrics(tmp_path / "run")[0]["learning_rate"] == 1e-2
    assert told["largest_change"] > 0


def test_an_adapter_that_learned_nothing_is_warned_of(base, tmp_path, caplog):
    source = write_rows(tmp_path / "rows.jsonl", toy_rows("sft"))
    trainer = trainer_of("sft", source, fit={"learning_rate": 1e-60})
    told = train(trainer, model_of(base), tmp_path / "run")["training"]
    assert told["largest_change"] == 0
    assert "so nothing was learned; raise trainer.fit.learning_rate" in caplog.text


def test_the_end_of_dpo_tells_of_its_pairs_and_of_what_comes_next(base, tmp_path, capsys):
    source = write_rows(tmp_path / "rows.jsonl", toy_rows("dpo"))
    summary = train(trainer_of("dpo", source), model_of(base), tmp_path / "run")
    last = metrics(tmp_path / "run")[-1]
    told = summary["training"]
    assert told["last_accuracy"] == last["rewards/accuracies"]
    assert told["last_margin"] == last["rewards/margins"]
    assert summary["data"]["sft_weight_in_loss"] == 0.2
    assert f"Next: add llm.adapter={tmp_path / 'run'} to the command" in capsys.readouterr().out


def test_the_summary_counts_every_row(base, tmp_path):
    # in tokens: a message of n letters has n + 11 for <|start|>user, its line break and <|end|>...
    rows = [
        {"messages": [user("hi"), agent("yes")]},
        {"messages": [user("hi" * 100), agent("yes")]},  # too long
        {"messages": [user("hi"), agent("yes"), user("hi"), agent("y" * 100)]},  # cut at its first
    ]
    source = write_rows(tmp_path / "rows.jsonl", rows)
    data = DataSettings(max_rows=None, max_tokens=None, max_length=64, too_long="cut")
    summary = train(trainer_of("sft", source, data=data), model_of(base), tmp_path / "cut")
    # <|start|>user\\n hi <|end|> are 1 + 5 + 2 + 1, <|start|>assistant\\n 1 + 10, yes<|end|> 4
    assert summary["data"] == {
        **{"rows": 3, "duplicates": 0, "conflicts": 0, "left_out": 0},
        **{"too_long": 1, "cut": 1, "sequences": 2},
        **{"tokens": 2 * 24, "trained_tokens": 2 * 4},
    }
    data = DataSettings(max_rows=None, max_tokens=None, max_length=64, too_long="drop")
    summary = train(trainer_of("sft", source, data=data), model_of(base), tmp_path / "drop")
    assert summary["data"] == {
        **{"rows": 3, "duplicates": 0, "conflicts": 0, "left_out": 0},
        **{"too_long": 2, "cut": 0, "sequences": 1},
        **{"tokens": 24, "trained_tokens": 4},
    }
    assert summary == json.loads((tmp_path / "drop" / "summary.json").read_text())


@pytest.mark.parametrize(
    ("limits", "num_learned"),
    [({"max_rows": 3}, 3), ({"max_tokens": 72}, 3), ({"max_tokens": 71}, 2), ({}, 8)],
)
def test_a_draw_ends_at_so_many_rows_or_tokens(base, tmp_path, limits, num_learned):
    rows = [{"messages": [user("h" + str(place)), agent("yes")]} for place in range(8)]
    source = write_rows(tmp_path / "rows.jsonl", rows)  # of 24 tokens each
    data = DataSettings(**({"max_rows": None, "max_tokens": None} | limits), max_length=64,
                        too_long="drop")  # fmt: skip
    summary = train(trainer_of("sft", source, data=data), model_of(base), tmp_path / "run")
    assert summary["data"]["rows"] == 8
    assert summary["data"]["left_out"] == 8 - num_learned
    assert summary["data"]["sequences"] == num_learned


def test_rows_longer_than_the_context_of_the_model_are_too_long(tmp_path):
    base = save_tiny_model(tmp_path / "base", llama(max_position_embeddings=32))
    rows = [{"messages": [user("hi"), agent(text)]} for text in ("yes", "y" * 20)]
    source = write_rows(tmp_path / "rows.jsonl", rows)
    assert ROWS.max_length > 32
    summary = train(trainer_of("sft", source), model_of(base), tmp_path / "run")
    assert (summary["data"]["sequences"], summary["data"]["too_long"]) == (1, 1)


def test_a_control_deals_the_labels_out_anew_and_keeps_their_numbers(base, tmp_path):
    rows = toy_rows("kto", 12)
    source = write_rows(tmp_path / "rows.jsonl", rows)
    told = {}
    for shuffles in (False, True):
        trainer = trainer_of("kto", source, shuffle_labels=shuffles)
        folder = tmp_path / str(shuffles)
        told[shuffles] = train(trainer, model_of(base), folder)["data"], metrics(folder)
    assert told[False][0] == told[True][0]
    assert told[False][0]["positives"] == told[False][0]["negatives"] == 6
    assert told[False][1] != told[True][1]


def test_kto_rows_that_fill_no_batch_are_counted(base, tmp_path):
    # five rows of one task and one of another give one batch of two
    origin = {"run": "r", "task_id": "a", "nodes": [0]}
    *own, other = toy_rows("kto", 6)
    rows = [*(row | {"origin": origin} for row in own), other | {"label": True}]
    source = write_rows(tmp_path / "rows.jsonl", rows)
    with pytest.raises(DataError, match="there are 2 good and 0 bad outputs, and KTO needs both"):
        train(trainer_of("kto", source), model_of(base), tmp_path / "one")
    rows[-1]["label"] = False
    source = write_rows(tmp_path / "more.jsonl", rows)
    summary = train(trainer_of("kto", source, fit={"epochs": 3.0}), model_of(base), tmp_path / "3")
    data = summary["data"]
    assert data["positives"] + data["negatives"] + data["without_batch"] == 6
    assert summary["training"]["updates"] == 3


@given(
    tasks=st.lists(st.integers(0, 6), max_size=40),
    batch_size=st.integers(2, 4),
    seed=st.integers(0, 3),
)
@settings(max_examples=200)
def test_no_batch_has_a_task_twice_and_only_what_fills_none_is_out(tasks, batch_size, seed):
    made = batches(tasks, batch_size, seed)
    placed = [position for batch in made for position in batch]
    assert len(placed) == len(set(placed))
    for batch in made:
        assert len(batch) == len({tasks[position] for position in batch}) == batch_size
        others = mismatched(batch)
        assert sorted(others) == sorted(batch)
        assert all(tasks[one] != tasks[other] for one, other in zip(batch, others, strict=True))
    out = set(range(len(tasks))) - set(placed)
    assert len({tasks[position] for position in out}) < batch_size
    # as many batches as there can be: m of them take at most m rows of each task
    possible = max(
        (m for m in range(41) if sum(min(tasks.count(t), m) for t in set(tasks)) >= m * batch_size),
        default=0,
    )
    assert len(made) == possible


@given(num_good=st.integers(1, 10_000), num_bad=st.integers(1, 10_000))
def test_the_weight_of_bad_rows_is_the_nearest_to_one_within_the_bounds(num_good, num_bad):
    weight = undesirable_weight(num_good, num_bad)
    ratio = num_good / (weight * num_bad)
    assert 1 - 1e-9 <= ratio <= 4 / 3 + 1e-9
    if 1 <= num_good / num_bad <= 4 / 3:
        assert weight == 1
    else:  # then it stands at a bound
        assert min(abs(ratio - 1), abs(ratio - 4 / 3)) < 1e-9


def long_model(folder: Path) -> Path:
    """A model of bytes with room for the prompts of agents."""
    return save_tiny_model(folder, llama(max_position_embeddings=32_768, hidden_size=16))


def collected(tmp_path: Path) -> Path:
    folder = tmp_path / "search"
    choices = [
        "+experiment=toolwoz_josh",
        "+debug=tiny",
        "rollout.resolve_censored=2",
        "at_most.dataset.limit=8",
    ]
    return run(CONF, [*choices, f"hydra.run.dir={folder}", f"data_dir={DATA}"])


@pytest.mark.slow
def test_runs_are_mined_and_learned_from_in_each_form(tmp_path):
    search, base = collected(tmp_path), long_model(tmp_path / "base")
    miners = {"sft": "josh_clean", "dpo": "siblings", "kto": "josh_clean"}
    for form, miner in miners.items():
        folder = tmp_path / form
        run(
            CONF,
            [
                *(f"trainer={form}", f"trainer.source=[{search}]", f"miner={miner}"),
                *("agent=react/compact", "llm=hf", f"llm.model={base}", "llm.dtype=float32"),
                *(
                    "llm.device=cpu",
                    "trainer.check_forgetting=false",
                    "trainer.data.max_length=32768",
                ),
                *("trainer.data.max_rows=60", "trainer.fit.max_updates=1"),
                *(f"data_dir={DATA}", f"hydra.run.dir={folder}"),
            ],
        )
        card = (folder / "data" / "train.jsonl.card.md").read_text()
        assert f"`{miner}`" in card
        assert "`agent=react`" in card
        num_rows = len((folder / "data" / "train.jsonl").read_text().splitlines())
        summary = json.loads((folder / "summary.json").read_text())
        assert summary["data"]["rows"] == num_rows > 0
        assert summary["data"]["too_long"] == 0
        assert summary["training"]["updates"] == 1
        adapter = folder / "checkpoints" / "final" / "adapter_model.safetensors"
        assert adapter.is_file()


@pytest.mark.slow
def test_the_check_of_what_was_forgotten_stands_beside_the_numbers(base, tmp_path):
    source = write_rows(tmp_path / "rows.jsonl", toy_rows("dpo"))
    summary = train(
        trainer_of("dpo", source, check_forgetting=True), model_of(base), tmp_path / "run"
    )
    assert summary["forgetting"]["kl_to_base"]["value"] > 0
    report = json.loads((tmp_path / "run" / "forgetting.json").read_text())
    assert len(report["answers_adapted"]) == 50


def test_no_word_is_sent_to_the_makers_of_trl(base, tmp_path, monkeypatch):
    from huggingface_hub import utils

    sent = []
    monkeypatch.setattr("trl.trainer.base_trainer.send_telemetry", lambda **told: sent.append(told))
    assert callable(utils.send_telemetry)
    assert os.environ.get("HF_HUB_DISABLE_TELEMETRY") is None
    for form in ("sft", "dpo", "kto"):
        source = write_rows(tmp_path / f"{form}.jsonl", toy_rows(form, 4))
        train(trainer_of(form, source), model_of(base), tmp_path / form)
    assert not sent
