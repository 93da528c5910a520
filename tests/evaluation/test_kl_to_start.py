from dataclasses import replace

import pytest
import torch

from drl.evaluation.kl_to_start import WrittenText, kls_to_start
from drl.models.adapter import new_adapter
from tests.ppo.models import make

TEXT = WrittenText((1, 5, 9), (7, 8), is_cut=False)


@pytest.fixture
def policy():
    """A model whose adapter does something."""
    model = new_adapter(make("llama"), rank=2, alpha=4, dropout=0.0, modules="all-linear")
    generator = torch.Generator().manual_seed(1)
    for name, weight in model.named_parameters():
        if "lora_B" in name:
            weight.data = 0.3 * torch.randn(weight.shape, generator=generator)
    return model.eval()


def next_tokens(model, ids, temperature):
    with torch.no_grad():
        return (model(input_ids=torch.tensor([ids])).logits[0, -1] / temperature).softmax(-1)


@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_the_distance_of_a_text_is_that_of_its_next_tokens_added_up(policy, temperature):
    expected = 0.0
    for ids in ([1, 5, 9], [1, 5, 9, 7], [1, 5, 9, 7, 8]):  # before 7, before 8, before the end
        here = next_tokens(policy, ids, temperature)
        with policy.disable_adapter():
            start = next_tokens(policy, ids, temperature)
        expected += float((here * (here / start).log()).sum())
    assert kls_to_start(policy, [TEXT], temperature) == pytest.approx([expected], rel=1e-4)


def test_a_text_that_was_cut_drew_no_end(policy):
    whole, cut = kls_to_start(policy, [TEXT, replace(TEXT, is_cut=True)], 1.0)
    (longer,) = kls_to_start(policy, [WrittenText((1, 5, 9, 7, 8), (), is_cut=False)], 1.0)
    assert whole - cut == pytest.approx(longer, rel=1e-3)


def test_a_text_of_nothing_but_its_end_has_a_distance(policy):
    (kl,) = kls_to_start(policy, [WrittenText((1, 5), (), is_cut=False)], 1.0)
    assert kl > 0


def test_an_adapter_that_changes_nothing_leaves_no_distance():
    model = new_adapter(make("llama"), rank=2, alpha=4, dropout=0.0, modules="all-linear").eval()
    assert kls_to_start(model, [TEXT], 1.0) == pytest.approx([0.0], abs=1e-6)
