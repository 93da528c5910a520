"""`drl textrl-train`, `drl textrl-eval` and merging, and what is wrong with their input."""

import json
from pathlib import Path

import pytest
import typer.testing
import yaml

from drl.cli.main import app
from drl.compat.textrl import load_model
from drl.compat.textrl.answers import answers
from drl.compat.textrl.merge import merge_adapter
from drl.compat.textrl.programs import dataset_from, evaluate, named, train
from drl.errors import ConfigError, DataError, DrlError
from tests.compat.textrl.small import CHAT, LABELS, PAIRS, PROMPTS, config, letters

REWARD = f"{letters.__module__}:letters"


def settings(tiny: Path, folder: Path, algo: str, **own: object) -> Path:
    """A file for `drl textrl-train`."""
    said = {
        **{key: value for key, value in config(algo, folder / "out").to_dict().items() if value},
        "model": {"name": str(tiny), "torch_dtype": "float32"},
    }
    file = folder / "settings.yaml"
    file.write_text(yaml.safe_dump({**said, **own}))
    return file


@pytest.mark.slow
@pytest.mark.parametrize(
    ("algo", "own"),
    [
        ("grpo", {"dataset": {"list": PROMPTS}, "reward": REWARD, "num_generations": 2}),
        ("reinforce_pp", {"dataset": f"{letters.__module__}:PROMPTS", "reward": [REWARD, REWARD]}),
        ("dpo", {"dataset": PAIRS, "peft": {"r": 2}}),
        ("kto", {"dataset": LABELS, "eval_dataset": LABELS}),
        ("reward_model", {"dataset": PAIRS}),
    ],
)
def test_a_file_says_how_to_train(tiny, tmp_path, algo, own):
    out = train(settings(tiny, tmp_path, algo, **own))
    assert out == tmp_path / "out"
    saved = "adapter_model.safetensors" if "peft" in own else "model.safetensors"
    assert (out / saved).is_file()


@pytest.mark.slow
def test_the_command_tells_where_the_model_is(tiny, tmp_path):
    file = settings(tiny, tmp_path, "dpo", dataset=PAIRS)
    done = typer.testing.CliRunner().invoke(app, ["textrl-train", "--config", str(file)])
    assert done.exit_code == 0
    assert f"The trained model is in {tmp_path / 'out'}" in done.stdout


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ({"model": {"path": "x"}}, "has no name"),
        ({"model": {"name": "x", "dtype": "auto"}}, "model.dtype is unknown"),
        ({"dataset": {"file": "x"}}, "is in no form that is known"),
        ({"dataset": PAIRS, "reward": REWARD}, "reward is not for algo=dpo"),
        ({"datasets": PAIRS}, "datasets is no setting"),
        ({}, "train_dataset is missing"),
    ],
)
def test_a_wrong_file_is_told_so_before_training(tiny, tmp_path, own, said):
    with pytest.raises(DrlError, match=said):
        train(settings(tiny, tmp_path, "dpo", **own))


def test_a_file_that_is_none_is_named(tmp_path):
    with pytest.raises(DataError, match=r"none\.yaml: cannot be read"):
        train(tmp_path / "none.yaml")
    (tmp_path / "list.yaml").write_text("- a\n")
    with pytest.raises(DataError, match="holds no settings"):
        train(tmp_path / "list.yaml")


def test_rewards_of_answers_are_summed_up(tiny, tmp_path):
    done = evaluate(
        str(tiny), f"{letters.__module__}:PROMPTS", REWARD, max_new_tokens=4, batch_size=3
    )
    assert done.count == 4
    assert done.min <= done.mean <= done.max
    command = ["textrl-eval", "--model", str(tiny), "--reward", REWARD, "--max-new-tokens", "4"]
    rows = ["--dataset", f"{letters.__module__}:PROMPTS", "--batch-size", "3"]
    printed = typer.testing.CliRunner().invoke(app, [*command, *rows]).stdout
    assert json.loads(printed)["mean"] == done.mean  # the same seed


def test_answers_have_the_form_of_their_prompts_and_depend_on_the_seed(tiny):
    loaded = load_model(str(tiny), load_ref=False)
    said = answers(loaded, ["one", "two"], 8, 2, 1.0, 0)
    assert said == answers(loaded, ["one", "two"], 8, 2, 1.0, 0)
    assert said != answers(loaded, ["one", "two"], 8, 2, 1.0, 1)
    (reply,) = answers(loaded, [CHAT], 8, 2, 0.0, 0)
    assert [message["role"] for message in reply] == ["assistant"]


def test_a_prompt_that_does_not_fit_is_named(tiny):
    loaded = load_model(str(tiny), load_ref=False)
    with pytest.raises(DataError, match="row 1: a prompt of 2048 tokens and an answer of 8"):
        answers(loaded, ["one", "x" * 2048], 8, 1, 0.0, 0)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"max_new_tokens": 0}, "--max-new-tokens=0"),
        ({"batch_size": 0}, "--batch-size=0"),
        ({"temperature": -1.0}, "--temperature"),
        ({"reward": "letters"}, "letters names nothing; write module:attr"),
        ({"reward": "no.such:thing"}, "no.such:thing cannot be found"),
    ],
)
def test_a_wrong_evaluation_is_told_so(options, said):
    with pytest.raises(ConfigError, match=said):
        evaluate(**{"model": "x", "dataset": "hub:x", "reward": REWARD, **options})


def test_names_are_looked_up_where_the_command_was_started(tmp_path, monkeypatch):
    (tmp_path / "my_rewards_of_here.py").write_text("ROWS = ['a', 'b']\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path / "elsewhere"))
    assert named("my_rewards_of_here:ROWS") == ["a", "b"]
    assert list(dataset_from("my_rewards_of_here:ROWS")["prompt"]) == ["a", "b"]


@pytest.mark.slow
def test_an_adapter_is_merged_into_the_model_it_was_trained_on(tiny, tmp_path):
    adapter = train(settings(tiny, tmp_path, "dpo", dataset=PAIRS, peft={"r": 2}))
    merged = merge_adapter(str(adapter), str(tmp_path / "merged"))
    loaded = load_model(merged, load_ref=False)
    assert type(loaded.policy).__name__ == "LlamaForCausalLM"
    with pytest.raises(ConfigError, match="trust_remote_code=True"):
        merge_adapter(str(adapter), str(tmp_path / "other"), trust_remote_code=True)
    with pytest.raises(ConfigError, match="torch_dtype=float16 must be auto, float32 or bfloat16"):
        merge_adapter(str(adapter), str(tmp_path / "other"), torch_dtype="float16")
