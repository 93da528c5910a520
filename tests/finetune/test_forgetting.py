"""What a tiny model with an adapter forgot, against forward passes and answers made by hand."""

import pytest
import torch

from drl.finetune.forgetting import ForgettingReport, forgetting, instructions, passages
from drl.llm.base import Message, Sampling
from drl.models.adapter import put_in
from drl.models.chat_template import ChatTemplate
from drl.models.load import load
from tests.finetune.adapters import save_adapter
from tests.llm import tiny_model
from tests.llm.asking import ask_one, make, request


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return tiny_model.save_tiny_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="module")
def adapter(base, tmp_path_factory):
    return save_adapter(base, tmp_path_factory.mktemp("adapter"))


@pytest.fixture(scope="module")
def report(base, adapter) -> ForgettingReport:
    return look(base, adapter)


def look(base, adapter) -> ForgettingReport:
    loaded = load(base, None, "float32", "cpu")
    model = put_in(loaded.model, base, adapter, is_trainable=True).train()
    before = {name: (p.requires_grad, p.clone()) for name, p in model.named_parameters()}
    found = forgetting(model, ChatTemplate(loaded.tokenizer, None), loaded.end_ids)
    assert model.training
    for name, weight in model.named_parameters():
        assert weight.requires_grad == before[name][0]
        assert torch.equal(weight, before[name][1])
    return found


def test_kl_is_that_of_two_plain_forward_passes(base, adapter, report):
    assert len(report.kl_to_base) == len(report.kl_from_base) == len(report.passages) == 32
    assert report.passages == tuple(kind for kind, _ in passages())
    of_base = load(base, None, "float32", "cpu")
    of_adapted = load(base, adapter, "float32", "cpu")
    for place in (0, 7, 31):
        ids = torch.tensor([of_base.tokenizer(passages()[place][1])["input_ids"]])
        with torch.no_grad():
            q = of_base.model(ids).logits[0].double().softmax(-1)
            p = of_adapted.model(ids).logits[0].double().softmax(-1)
        # sum p log(p / q) over 258 tokens, averaged over places
        assert report.kl_to_base[place] == pytest.approx(
            float((p * (p / q).log()).sum(-1).mean()), rel=1e-3
        )
        assert report.kl_from_base[place] == pytest.approx(
            float((q * (q / p).log()).sum(-1).mean()), rel=1e-3
        )
    assert min(report.kl_to_base) > 0.01


def test_answers_are_what_the_engine_says_at_temperature_0(base, adapter, report):
    assert len(report.instructions) == 50
    settings = {"model": str(base), "dtype": "float32", "device": "cpu"}
    for place in (0, 20, 46):
        asked = request(
            messages=(Message("user", instructions()[place].ask),),
            sampling=Sampling(0.0, max_tokens=64),
        )
        for llm, answers in (
            (make("hf", **settings), report.answers_base),
            (make("hf", **settings, adapter=str(adapter)), report.answers_adapted),
        ):
            assert answers[place] == ask_one(llm, asked).choices[0].text
    assert report.answers_base != report.answers_adapted


def test_what_passed_is_what_the_checks_say_of_the_answers(report):
    for place, each in enumerate(instructions()):
        assert each.name == report.instructions[place]
        assert report.passed_base[place] == each.is_followed(report.answers_base[place])
        assert report.passed_adapted[place] == each.is_followed(report.answers_adapted[place])


def test_an_adapter_that_changes_nothing_forgets_nothing(base, tmp_path):
    report = look(base, save_adapter(base, tmp_path, size=0.0))
    assert set(report.kl_to_base) == set(report.kl_from_base) == {0.0}
    assert report.answers_adapted == report.answers_base
    assert report.passed_adapted == report.passed_base
