import math

import pytest
import torch

from drl.ops.policy_gradient import entropies
from drl.ops.token_scores import Output, token_scores


def _tensors(*, bias, learns=("hidden", "weight", "bias")):
    generator = torch.Generator().manual_seed(0)
    hidden = torch.randn(7, 5, generator=generator).requires_grad_("hidden" in learns)
    weight = torch.randn(11, 5, generator=generator).requires_grad_("weight" in learns)
    given = torch.randn(11, generator=generator).requires_grad_("bias" in learns) if bias else None
    ids = torch.randint(11, (7,), generator=generator)
    return hidden, Output(weight, given), ids


def test_a_token_has_its_share_and_the_entropy_of_its_distribution():
    # logits are 2 log 2 and 0, halved by the temperature: probabilities 2/3 and 1/3
    hidden, weight = torch.tensor([[2 * math.log(2)]]), torch.tensor([[1.0], [0.0]])
    scores = token_scores(hidden, Output(weight, None), torch.tensor([1]), 2.0, 8)
    torch.testing.assert_close(scores.log_probs, torch.tensor([math.log(1 / 3)]))
    wanted = math.log(3) - 2 / 3 * math.log(2)  # 2/3 log 3/2 + 1/3 log 3
    torch.testing.assert_close(scores.entropies, torch.tensor([wanted]))


@pytest.mark.parametrize("num_at_once", [1, 3, 100])
@pytest.mark.parametrize("bias", [False, True])
def test_scores_and_gradients_are_those_of_the_plain_formula(num_at_once, bias):
    hidden, output, ids = _tensors(bias=bias)
    weights = torch.linspace(-1, 2, 7), torch.linspace(3, -1, 7)
    learning = [hidden, *(tensor for tensor in output if tensor is not None)]

    def gradients(log_probs, entropy):
        total = (weights[0] * log_probs).sum() + (weights[1] * entropy).sum()
        return torch.autograd.grad(total, learning)

    logits = torch.nn.functional.linear(hidden, *output) / 0.7
    plain = logits.log_softmax(dim=-1).gather(1, ids[:, None])[:, 0], entropies(logits)
    found = token_scores(hidden, output, ids, 0.7, num_at_once)
    torch.testing.assert_close(tuple(found), plain)
    torch.testing.assert_close(gradients(*found), gradients(*plain), rtol=1e-5, atol=1e-5)


def test_what_does_not_learn_gets_no_gradient():
    hidden, output, ids = _tensors(bias=True, learns=("weight",))
    sum(token_scores(hidden, output, ids, 1.0, 3)).sum().backward()
    assert output.weight_VH.grad is not None
    assert output.bias_V is not None
    assert hidden.grad is output.bias_V.grad is None


def test_no_tokens_have_no_scores_and_move_nothing():
    hidden, output, ids = _tensors(bias=False)
    scores = token_scores(hidden[:0], output, ids[:0], 1.0, 3)
    assert scores.log_probs.shape == scores.entropies.shape == (0,)
    sum(scores).sum().backward()
    assert not output.weight_VH.grad.any()


def test_half_precision_states_are_scored_in_float32():
    hidden, output, ids = _tensors(bias=False)
    scores = token_scores(hidden.bfloat16(), Output(output.weight_VH.bfloat16(), None), ids, 1.0, 3)
    assert scores.log_probs.dtype == scores.entropies.dtype == torch.float32
    logits = (hidden.bfloat16() @ output.weight_VH.bfloat16().T).float()
    torch.testing.assert_close(scores.entropies, entropies(logits))
    scores.log_probs.sum().backward()
    assert hidden.grad is not None


def test_logits_of_all_tokens_are_not_kept_for_gradients():
    hidden, output, ids = _tensors(bias=True)
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(
        lambda tensor: kept.append(tuple(tensor.shape)) or tensor, lambda tensor: tensor
    ):
        token_scores(hidden, output, ids, 1.0, 3)
    assert (7, 11) not in kept
    assert sorted(kept) == [(7,), (7,), (7, 5), (11,), (11, 5)]
