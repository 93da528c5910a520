from dataclasses import replace

import pytest
import torch
from turn_reward.learning import LINEAR

from drl.errors import ConfigError
from drl.turn_reward.head import apply, apply_members, fold, init, member, unfold
from drl.turn_reward.ragged import Layout, Ragged
from drl.turn_reward.settings import HeadSettings

KINDS = [replace(LINEAR, kind=kind) for kind in ("linear", "mlp", "lstm")]


def generators(*seeds):
    return [torch.Generator().manual_seed(seed) for seed in seeds]


def ragged():
    inputs = torch.randn(9, 4, generator=torch.Generator().manual_seed(5))
    return Ragged(inputs, Layout(torch.tensor([2, 4, 3])))


def test_a_linear_head_is_a_weighted_sum():
    params = {"input.weight": torch.tensor([[2.0], [-1.0]]), "input.bias": torch.tensor([0.5])}
    # 2 * 1 - 3 + 0.5 and 0 - 1 + 0.5
    rewards = apply(LINEAR, params, torch.tensor([[1.0, 3.0], [0.0, 1.0]]))
    torch.testing.assert_close(rewards, torch.tensor([-0.5, -0.5]))


def test_an_mlp_rectifies_and_may_be_bounded():
    params = {
        "input.weight": torch.tensor([[1.0, -1.0]]),
        "input.bias": torch.tensor([0.0, 1.0]),
        "output.weight": torch.tensor([2.0, 3.0]),
        "output.bias": torch.tensor(-1.0),
    }
    # input 2: units 2 and max(0, -1) = 0, so 2 * 2 - 1 = 3; input 0.5: 2 * 0.5 + 3 * 0.5 - 1 = 1.5
    settings = replace(LINEAR, kind="mlp", hidden=2)
    inputs = torch.tensor([[2.0], [0.5]])
    torch.testing.assert_close(apply(settings, params, inputs), torch.tensor([3.0, 1.5]))
    bounded = apply(replace(settings, tanh=True), params, inputs)
    torch.testing.assert_close(bounded, torch.tensor([3.0, 1.5]).tanh())


def test_an_lstm_gathers_by_a_gate_that_sees_what_was_gathered():
    params = {
        "input.weight": torch.tensor([[1.0]]),
        "input.bias": torch.tensor([0.0]),
        "gate.weight": torch.tensor([[2.0]]),
        "gate.bias": torch.tensor([0.0]),
        "output.weight": torch.tensor([10.0]),
        "output.bias": torch.tensor(0.3),
    }
    z = torch.tensor([1.0, -0.5]).tanh()
    first = 0.5 * z[0]  # the gate is half open before anything is gathered
    second = torch.sigmoid(2 * first) * z[1]
    expected = torch.stack([10 * first + 0.3, 10 * second])
    settings = replace(LINEAR, kind="lstm", cells=1)
    found = apply(settings, params, torch.tensor([[1.0], [-0.5]]))
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("settings", KINDS, ids=lambda settings: settings.kind)
def test_sessions_of_a_batch_do_not_touch_each_other(settings):
    batch = ragged()
    params = member(init(settings, 4, 1, generators(1)), 0)
    together = apply(settings, params, batch)
    alone = [apply(settings, params, part) for part in batch.inputs_ND.split([2, 4, 3])]
    torch.testing.assert_close(together, torch.cat(alone))


@pytest.mark.parametrize("settings", KINDS, ids=lambda settings: settings.kind)
def test_a_later_turn_does_not_change_an_earlier_reward(settings):
    inputs = ragged().inputs_ND
    params = member(init(settings, 4, 1, generators(1)), 0)
    torch.testing.assert_close(
        apply(settings, params, inputs)[:5], apply(settings, params, inputs[:5])
    )


@pytest.mark.parametrize("settings", KINDS, ids=lambda settings: settings.kind)
def test_members_are_the_heads_that_they_would_be_alone(settings):
    params = init(settings, 4, 3, generators(1, 2, 3))
    rewards = apply_members(settings, params, ragged())
    for number in range(3):
        alone = init(settings, 4, 1, generators(number + 1))
        torch.testing.assert_close(rewards[number], apply_members(settings, alone, ragged())[0])
    assert not torch.allclose(rewards[0], rewards[1])


@pytest.mark.parametrize("settings", KINDS, ids=lambda settings: settings.kind)
def test_folded_weights_read_raw_inputs_and_give_scaled_rewards(settings):
    batch = ragged()
    params = init(settings, 4, 2, generators(1, 2))
    mean, deviation = torch.tensor([1.0, 2.0, 0.0, -1.0]), torch.tensor([2.0, 0.5, 1.0, 3.0])
    unit = torch.tensor([0.1, 7.0])
    standard = Ragged((batch.inputs_ND - mean) / deviation, batch.layout)
    expected = apply_members(settings, params, standard) * unit[:, None]
    folded = fold(settings, params, mean, deviation, unit)
    torch.testing.assert_close(apply_members(settings, folded, batch), expected)
    for name, weight in unfold(settings, folded, mean, deviation, unit).items():
        torch.testing.assert_close(weight, params[name])


def test_dropout_of_the_reward_zeroes_its_share_and_raises_the_others():
    settings = replace(LINEAR, scalar_dropout=0.2)
    params = {"input.weight": torch.zeros(1, 1, 1), "input.bias": torch.ones(1, 1)}
    many = Ragged(torch.zeros(10_000, 1), Layout(torch.tensor([10_000])))
    rewards = apply_members(settings, params, many, generators(3))
    assert set(rewards.unique().tolist()) == {0.0, 1.25}
    # 2000 expected, deviation sqrt(10000 * 0.2 * 0.8) = 40
    assert abs(int((rewards == 0).sum()) - 2000) < 200
    assert (apply_members(settings, params, many) == 1.0).all()


def test_the_papers_head_has_as_many_weights_as_the_released_one():
    paper = HeadSettings(
        kind="mlp",
        hidden=128,
        cells=16,
        dropout=0.2,
        scalar_dropout=0.2,
        tanh=True,
        standardise=False,
    )
    params = init(paper, 1024, 1, generators(0))
    assert sum(weight.numel() for weight in params.values()) == 131_329


def test_a_bounded_lstm_is_refused():
    with pytest.raises(ConfigError, match=r"tanh=true .* set tanh=false"):
        replace(LINEAR, kind="lstm", tanh=True)
