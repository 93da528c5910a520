import pytest
import torch

from drl.ops.returns import generalized_advantages, leave_one_out_means, returns_to_go


def test_advantages_of_three_decisions_worked_by_hand():
    # gamma 0.5, lam 0.5; r = 1, 0, 2; V = 1, 2, 1; nothing after
    # delta_2 = 2 + 0 - 1 = 1            A_2 = 1
    # delta_1 = 0 + 0.5*1 - 2 = -1.5     A_1 = -1.5 + 0.25*1 = -1.25
    # delta_0 = 1 + 0.5*2 - 1 = 1        A_0 = 1 + 0.25*-1.25 = 0.6875
    found = generalized_advantages(
        torch.tensor([[1.0, 0.0, 2.0]]),
        torch.tensor([[1.0, 2.0, 1.0]]),
        torch.ones(1, 3, dtype=torch.bool),
        torch.zeros(1),
        gamma=0.5,
        lam=0.5,
    )
    torch.testing.assert_close(found, torch.tensor([[0.6875, -1.25, 1.0]]))


def test_textrl_settings_give_the_return_less_the_value():
    # gamma 0.95, lam 1, reward 1 at the end of three tokens: returns 0.9025, 0.95, 1
    found = generalized_advantages(
        torch.tensor([[0.0, 0.0, 1.0]]),
        torch.tensor([[0.5, 0.5, 0.5]]),
        torch.ones(1, 3, dtype=torch.bool),
        torch.zeros(1),
        gamma=0.95,
        lam=1.0,
    )
    torch.testing.assert_close(found, torch.tensor([[0.4025, 0.45, 0.5]]))


def test_what_comes_after_a_cut_counts_as_one_more_value():
    # one decision, r = 1, V = 0.5, after it 2 at gamma 0.5: 1 + 1 - 0.5
    found = generalized_advantages(
        torch.tensor([[1.0]]),
        torch.tensor([[0.5]]),
        torch.ones(1, 1, dtype=torch.bool),
        torch.tensor([2.0]),
        gamma=0.5,
        lam=0.9,
    )
    torch.testing.assert_close(found, torch.tensor([[1.5]]))


def test_padding_changes_nothing_even_if_it_holds_numbers():
    rewards = torch.tensor([[1.0, 2.0]])
    values = torch.tensor([[0.3, 0.1]])
    after = torch.tensor([0.7])
    alone = generalized_advantages(
        rewards, values, torch.ones(1, 2, dtype=torch.bool), after, gamma=0.9, lam=0.8
    )
    padded = generalized_advantages(
        torch.tensor([[1.0, 2.0, 9.0], [4.0, 4.0, 4.0]]),
        torch.tensor([[0.3, 0.1, 9.0], [1.0, 1.0, 1.0]]),
        torch.tensor([[True, True, False], [True, True, True]]),
        torch.tensor([0.7, 0.0]),
        gamma=0.9,
        lam=0.8,
    )
    torch.testing.assert_close(padded[0], torch.cat([alone[0], torch.zeros(1)]))


def test_returns_to_go_discount_what_follows():
    # 1 + 0.5*(2 + 0.5*(4 + 0.5*8)) = 4; 2 + 0.5*(4 + 4) = 6; 4 + 0.5*8 = 8
    found = returns_to_go(
        torch.tensor([[1.0, 2.0, 4.0]]),
        torch.ones(1, 3, dtype=torch.bool),
        0.5,
        torch.tensor([8.0]),
    )
    torch.testing.assert_close(found, torch.tensor([[4.0, 6.0, 8.0]]))


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="one shape"):
        generalized_advantages(
            torch.zeros(1, 2),
            torch.zeros(1, 3),
            torch.ones(1, 2, dtype=torch.bool),
            torch.zeros(1),
            gamma=1.0,
            lam=1.0,
        )


def test_the_others_of_a_group_are_the_baseline_and_who_is_alone_has_none():
    # group 0: 1, 2, 6 -> 4, 3.5, 1.5; group 1: alone
    found = leave_one_out_means(torch.tensor([1.0, 5.0, 2.0, 6.0]), torch.tensor([0, 1, 0, 0]))
    torch.testing.assert_close(found, torch.tensor([4.0, float("nan"), 3.5, 1.5]), equal_nan=True)
