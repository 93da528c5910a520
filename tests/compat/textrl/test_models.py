import pytest
import torch
from transformers import (
    AutoModelForMaskedLM,
    AutoModelForSeq2SeqLM,
    DistilBertConfig,
    T5Config,
)

from drl.compat.textrl import PreferenceTrainer, load_model
from drl.compat.textrl.data import from_list
from drl.compat.textrl.models import frozen_copy
from drl.errors import ConfigError
from tests.compat.textrl.small import PAIRS, config, weights_of
from tests.llm.tiny_model import END_ID, VOCABULARY, byte_tokenizer


def save(folder, make, settings):
    torch.manual_seed(0)
    make.from_config(settings).save_pretrained(folder)
    byte_tokenizer().save_pretrained(folder)
    return str(folder)


@pytest.fixture
def t5(tmp_path):
    settings = T5Config(
        vocab_size=VOCABULARY,
        d_model=16,
        d_kv=8,
        d_ff=16,
        num_layers=1,
        num_heads=2,
        decoder_start_token_id=END_ID,
        pad_token_id=END_ID,
        eos_token_id=END_ID,
    )
    return save(tmp_path / "t5", AutoModelForSeq2SeqLM, settings)


def test_policy_tokenizer_and_frozen_reference_come_together(tiny):
    model, tokenizer, reference = load_model(str(tiny))
    assert type(model).__name__ == "LlamaForCausalLM"
    assert (tokenizer.padding_side, tokenizer.pad_token) == ("left", tokenizer.eos_token)
    assert reference is not None
    assert not any(weight.requires_grad for weight in reference.parameters())
    assert reference is not model
    assert load_model(str(tiny), load_ref=False).ref is None


def test_an_adapter_has_the_settings_of_textrl_and_no_reference(tiny):
    model, _, reference = load_model(str(tiny), peft={"type": "lora"})
    settings = model.peft_config["default"]
    assert reference is None
    assert (settings.r, settings.lora_alpha, settings.lora_dropout) == (16, 32, 0.05)
    assert settings.task_type == "CAUSAL_LM"


def test_a_seed_decides_about_new_weights(tiny):
    def adapter(seed):
        return weights_of(load_model(str(tiny), peft={"r": 2}, seed=seed).policy)

    some, same, other = adapter(1), adapter(1), adapter(2)
    assert all(torch.equal(some[name], same[name]) for name in some)
    assert not all(torch.equal(some[name], other[name]) for name in some)


def test_an_encoder_decoder_is_loaded_and_trl_is_not_asked_to_train_it(t5, tmp_path):
    model, tokenizer, _ = load_model(t5)
    assert type(model).__name__ == "T5ForConditionalGeneration"
    assert load_model(t5, peft={"r": 2}).policy.peft_config["default"].task_type == "SEQ_2_SEQ_LM"
    with pytest.raises(ConfigError, match="encoder-decoder, which TRL does not train"):
        PreferenceTrainer(model, tokenizer, config("dpo", tmp_path), train_dataset=from_list(PAIRS))


def test_what_can_only_classify_is_a_reward_model(tmp_path):
    settings = DistilBertConfig(vocab_size=VOCABULARY, dim=16, hidden_dim=16, n_layers=1, n_heads=2)
    model, _, reference = load_model(save(tmp_path / "bert", AutoModelForMaskedLM, settings))
    assert type(model).__name__ == "DistilBertForSequenceClassification"
    assert (model.config.num_labels, reference) == (1, None)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"quantization": "4bit"}, "quantization=4bit without peft"),
        ({"quantization": "2bit", "peft": {}}, "must be 4bit, 8bit or None"),
        ({"peft": {"rank": 4}}, "peft.rank is unknown; there are type, r, alpha"),
        ({"peft": {"type": "ia3"}}, "peft.type=ia3 must be lora"),
        ({"peft": {"target_modules": ["nowhere"]}}, "peft does not fit"),
    ],
)
def test_what_does_not_fit_is_an_error(tiny, options, said):
    with pytest.raises(ConfigError, match=said):
        load_model(str(tiny), **options)


@pytest.mark.skipif(torch.cuda.is_available(), reason="the machine has a GPU")
def test_four_bits_need_a_gpu(tiny):
    with pytest.raises(ConfigError, match="needs a GPU and the package bitsandbytes"):
        load_model(str(tiny), peft={}, quantization="4bit")


def test_several_processes_have_no_device_map(tiny, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert load_model(str(tiny), load_ref=False).policy.device.type == "cpu"
    with pytest.raises(ConfigError, match="device_map=balanced with several processes"):
        load_model(str(tiny), device_map="balanced")


def test_a_folder_without_a_model_is_named(tmp_path):
    with pytest.raises(ConfigError, match="has no config that can be read"):
        load_model(str(tmp_path))


def test_a_copy_of_a_model_that_is_called_in_another_way_is_refused(tiny):
    model = load_model(str(tiny), load_ref=False).policy
    model.forward = model.forward
    with pytest.raises(ConfigError, match="name it as ref_model"):
        frozen_copy(model)
