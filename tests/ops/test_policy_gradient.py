import math

import torch

from drl.ops.policy_gradient import (
    clipped_surrogate,
    clipped_value_loss,
    entropies,
    explained_variance,
    kl_estimate,
)

HALF = math.log(0.5)


def test_a_ratio_beyond_the_clip_gains_nothing_but_still_loses():
    # r = 1.5 at clip 0.2: gain 1.2 for A = 1, loss -1.5 for A = -1
    # r = 0.5: 0.5 for A = 1 (unclipped), -0.8 for A = -1 (clipped)
    new = torch.tensor([0.75, 0.75, 0.25, 0.25]).log()
    found = clipped_surrogate(
        new, torch.full((4,), HALF), torch.tensor([1.0, -1.0, 1.0, -1.0]), clip=0.2
    )
    torch.testing.assert_close(found.loss, torch.tensor([-1.2, 1.5, -0.5, 0.8]))
    assert found.is_clipped.tolist() == [True, False, False, True]


def test_a_clipped_token_has_no_gradient():
    new = torch.tensor([0.75, 0.25]).log().requires_grad_()
    clipped_surrogate(
        new, torch.full((2,), HALF), torch.tensor([1.0, 1.0]), 0.2
    ).loss.sum().backward()
    # only r = 0.5 has one: d(-r A)/d log p = -r A = -0.5
    torch.testing.assert_close(new.grad, torch.tensor([0.0, -0.5]))


def test_the_value_loss_takes_the_worse_of_free_and_bounded():
    # V = 2, old 0, return 2: free 0; bounded at 0.5: (0.5 - 2)^2 / 2 = 1.125
    found = clipped_value_loss(torch.tensor([2.0]), torch.tensor([0.0]), torch.tensor([2.0]), 0.5)
    torch.testing.assert_close(found.loss, torch.tensor([1.125]))
    free = clipped_value_loss(torch.tensor([3.0]), torch.tensor([0.0]), torch.tensor([2.0]), None)
    torch.testing.assert_close(free.loss, torch.tensor([0.5]))


def test_the_unbiased_estimators_of_kl_average_to_it():
    # policy (0.5, 0.5), other (0.25, 0.75): KL = 0.5 ln 2 + 0.5 ln(2/3) = 0.143841
    policy = torch.tensor([0.5, 0.5]).log()
    other = torch.tensor([0.25, 0.75]).log()
    exact = 0.5 * math.log(2) + 0.5 * math.log(2 / 3)
    for estimator in ("k1", "k3"):
        found = (policy.exp() * kl_estimate(policy, other, estimator)).sum()
        torch.testing.assert_close(found, torch.tensor(exact))
    assert (kl_estimate(policy, other, "k3") >= 0).all()
    # k2: 0.5 * (ln 2)^2 and 0.5 * (ln(2/3))^2
    torch.testing.assert_close(
        kl_estimate(policy, other, "k2"),
        torch.tensor([0.5 * math.log(2) ** 2, 0.5 * math.log(2 / 3) ** 2]),
    )


def test_entropy_of_a_fair_coin_is_log_two_and_of_a_sure_thing_nothing():
    found = entropies(torch.tensor([[0.0, 0.0], [0.0, -math.inf]]))
    torch.testing.assert_close(found, torch.tensor([math.log(2), 0.0]))


def test_a_perfect_critic_explains_everything_and_a_constant_nothing():
    returns = torch.tensor([1.0, 2.0, 3.0])
    assert explained_variance(returns, returns) == 1.0
    assert explained_variance(torch.full((3,), 5.0), returns) == 0.0
    assert math.isnan(explained_variance(returns, torch.ones(3)))
