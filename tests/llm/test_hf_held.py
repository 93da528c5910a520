"""Models in memory: they answer as they are now, and their owner gets them back as they were."""

import asyncio
import copy
from pathlib import Path

import pytest
import torch
from peft import LoraConfig, get_peft_model
from torch import Tensor
from transformers import PreTrainedModel

from drl.errors import ConfigError
from drl.llm.base import LLM, Completions, OutageError, Request, Sampling
from drl.models.adapter import put_in
from drl.models.load import Loaded, load_base
from tests.llm import tiny_model
from tests.llm.asking import ask_one, make, request
from tests.llm.test_hf_models import PLAIN, SHARING

pytestmark = pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing`:FutureWarning")
"""peft 0.21 asks transformers 5.24 for it under an old name."""

IDS = torch.tensor([[72, 101, 108, 108, 111, 32, 119, 111]])
ASKED = request("Hello world", seeds=(1, 2), sampling=Sampling(1.0, 12))
MODELS = {"llama": tiny_model.llama(), "gpt2": SHARING["gpt2"], "gemma3": SHARING["gemma3"]} | PLAIN
DYNAMIC = {"rope_type": "dynamic", "factor": 2.0, "rope_theta": 10000.0}
MODELS["dynamic"] = tiny_model.llama(rope_parameters=DYNAMIC)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tiny_model.save_tiny_model(tmp_path_factory.mktemp("models") / "tiny")


def hf(folder: Path, **settings) -> LLM:
    return make("hf", **{"model": str(folder), "dtype": "float32", "device": "cpu", **settings})


def own(folder: Path) -> Loaded:
    return load_base(folder, "float32", "cpu")


def logits(model: PreTrainedModel) -> Tensor:
    """Of a plain forward pass; with dropout, of the same one every time."""
    torch.manual_seed(0)
    with torch.no_grad():
        return model(input_ids=IDS).logits


def texts(completions: Completions) -> list[str]:
    return [choice.text for choice in completions.choices]


def change(model: PreTrainedModel) -> None:
    with torch.no_grad():
        for weight in model.parameters():
            weight += 0.3 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(1))


def test_it_answers_as_the_same_weights_in_files_do(folder):
    held = hf(folder).with_weights(own(folder), "1")
    assert ask_one(held, ASKED).choices == ask_one(hf(folder), ASKED).choices


def test_changed_weights_of_another_version_give_another_text(folder):
    llm, loaded = hf(folder), own(folder)
    first = llm.with_weights(loaded, "run a, update 1")
    before = ask_one(first, ASKED)
    change(loaded.model)
    second = llm.with_weights(loaded, "run a, update 2")
    assert texts(ask_one(second, ASKED)) != texts(before)
    identities = [llm.identity, first.identity, second.identity]
    assert len({str(dict(identity)) for identity in identities}) == 3
    assert first.model == llm.model


@pytest.mark.parametrize("name", MODELS)
def test_its_owner_gets_it_back_as_it_was_and_trains_it(name, tmp_path):
    folder = tiny_model.save_tiny_model(tmp_path, MODELS[name])
    loaded = own(folder)
    model = loaded.model
    model.train()
    model.get_input_embeddings().eval()  # parts of a model may be in different modes
    for number, weight in enumerate(model.parameters()):
        weight.requires_grad_(number % 2 == 0)
    wanted = logits(model)
    before = state_of(model)
    ask_one(hf(folder).with_weights(loaded, "1"), ASKED)
    assert state_of(model) == before
    assert torch.equal(logits(model), wanted)
    model(input_ids=IDS, labels=IDS).loss.backward()
    assert any(weight.grad is not None for weight in model.parameters())


def state_of(model: PreTrainedModel) -> tuple:
    config = model.config
    return (
        config._attn_implementation,
        [module.training for module in model.modules()],
        [weight.requires_grad for weight in model.parameters()],
        copy.deepcopy(model.generation_config.to_dict()),
    )


def test_a_model_in_training_mode_speaks_without_dropout(folder):
    loaded = own(folder)
    adapted = get_peft_model(
        loaded.model,
        LoraConfig(r=4, lora_dropout=0.9, init_lora_weights=False, target_modules="all-linear"),
    )
    adapted.train()
    before = [weight.requires_grad for weight in adapted.parameters()]
    first, again = (texts(ask_one(hf(folder).with_weights(loaded, "1"), ASKED)) for _ in range(2))
    assert first == again
    assert adapted.training
    assert [weight.requires_grad for weight in adapted.parameters()] == before


def test_layers_of_an_adapter_inside_the_model_speak_too(folder, tmp_path):
    torch.manual_seed(0)
    lora = LoraConfig(r=4, init_lora_weights=False, target_modules=["q_proj", "v_proj"])
    get_peft_model(own(folder).model, lora).save_pretrained(tmp_path / "adapter")
    loaded = own(folder)
    adapted = put_in(loaded.model, folder, tmp_path / "adapter", is_trainable=True)
    wanted = logits(loaded.model)
    held = ask_one(hf(folder).with_weights(loaded, "1"), ASKED)
    assert held.choices == ask_one(hf(folder, adapter=str(tmp_path / "adapter")), ASKED).choices
    assert texts(held) != texts(ask_one(hf(folder), ASKED))
    assert torch.equal(logits(loaded.model), wanted)
    assert any(weight.requires_grad for weight in adapted.parameters())


def test_it_is_given_back_when_it_broke(folder):
    loaded = own(folder)
    loaded.model.train()
    before = state_of(loaded.model)
    llm = hf(folder).with_weights(loaded, "1")
    embedding = loaded.model.get_input_embeddings()

    async def break_and_ask(asked: Request) -> None:
        await llm.complete(asked)
        loaded.model.set_input_embeddings(torch.nn.Embedding(1, 32))
        with pytest.raises(OutageError, match="broke"):
            await llm.complete(request("something else entirely"))
        await llm.close()

    asyncio.run(break_and_ask(ASKED))
    loaded.model.set_input_embeddings(embedding)
    assert state_of(loaded.model) == before


def test_the_one_it_came_from_is_not_disturbed(folder):
    llm, loaded = hf(folder), own(folder)
    change(loaded.model)

    async def run() -> tuple[Completions, Completions, Completions]:
        before = await llm.complete(ASKED)
        held = llm.with_weights(loaded, "1")
        other = await held.complete(ASKED)
        await held.close()
        after = await llm.complete(ASKED)
        await llm.close()
        return before, other, after

    before, other, after = asyncio.run(run())
    assert texts(before) == texts(after) != texts(other)


def test_weights_in_memory_are_in_no_file(folder):
    with pytest.raises(ConfigError, match=r"\(update 3\) are in memory and in no file"):
        hf(folder).with_weights(own(folder), "update 3").weights()


def test_a_model_elsewhere_cannot_speak_with_weights_from_here(folder):
    elsewhere = make("openai", base_url="http://localhost:1/v1", api_key_env=None)
    with pytest.raises(ConfigError, match=r"answers from elsewhere.*choose llm=hf"):
        elsewhere.with_weights(own(folder), "1")
