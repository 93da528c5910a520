import pytest
import torch

from drl.ops.redistribution import (
    prefix_errors,
    prefix_sums,
    return_errors,
    session_means,
    session_sums,
    share_errors,
    variance_of_drawn_mean,
)

# one member, two sessions: turns 1 2 3 and turns 4 6
REWARDS = torch.tensor([[1.0, 2.0, 3.0, 4.0, 6.0]])
SESSION = torch.tensor([0, 0, 0, 1, 1])
STARTS = torch.tensor([0, 3])
LENGTHS = torch.tensor([3, 2])


def close(found, expected):
    torch.testing.assert_close(found, torch.tensor(expected))


def test_sums_and_means_stay_within_their_sessions():
    close(session_sums(REWARDS, SESSION, 2), [[6.0, 10.0]])
    # (1 * 1 + 3 * 3) / 4 and (6 * 1) / 1
    weights = torch.tensor([[1.0, 0.0, 3.0, 0.0, 1.0]])
    close(session_means(REWARDS, weights, SESSION, 2), [[2.5, 6.0]])


def test_a_session_of_which_nothing_counts_has_the_mean_0():
    weights = torch.tensor([[0.0, 0.0, 0.0, 1.0, 1.0]])
    close(session_means(REWARDS, weights, SESSION, 2), [[0.0, 5.0]])


def test_prefix_sums_begin_anew_with_each_session():
    close(prefix_sums(REWARDS, SESSION, STARTS), [[1.0, 3.0, 6.0, 4.0, 10.0]])


def test_prefix_sums_hold_after_a_million_before_them():
    many = torch.cat([torch.full((1, 1000), 1e4), torch.tensor([[0.125, 0.25]])], dim=1)
    session = torch.tensor([0] * 1000 + [1, 1])
    found = prefix_sums(many, session, torch.tensor([0, 1000]))
    close(found[:, 1000:], [[0.125, 0.375]])


def test_the_sum_of_all_turns_is_held_against_the_score():
    # (5 - 3 * 2)^2 = 1 and (10 - 2 * 5)^2 = 0
    means = session_means(REWARDS, torch.ones_like(REWARDS), SESSION, 2)
    close(return_errors(means, LENGTHS.float(), torch.tensor([[5.0, 10.0]])), [[1.0, 0.0]])


def test_a_draw_is_scaled_up_to_the_whole_session():
    # 2 of 3 turns: 3/2 * (1 + 3) = 6, (5 - 6)^2 = 1; 1 of 2: 2 * 6 = 12, (10 - 12)^2 = 4
    drawn = torch.tensor([[1.0, 0.0, 1.0, 0.0, 1.0]])
    means = session_means(REWARDS, drawn, SESSION, 2)
    close(return_errors(means, LENGTHS.float(), torch.tensor([[5.0, 10.0]])), [[1.0, 4.0]])


def test_without_replacement_the_spread_shrinks_to_nothing_at_all_turns():
    # turns 1 and 3 of three: v = 2, (1 - 2/3) * 2 / 2 = 1/3; both of two: nothing is left to draw
    drawn = torch.tensor([[1.0, 0.0, 1.0, 1.0, 1.0]])
    found = variance_of_drawn_mean(REWARDS, drawn, SESSION, LENGTHS, replaced=False)
    close(found, [[1 / 3, 0.0]])


def test_with_replacement_the_spread_is_divided_by_the_draws():
    # 1 1 3: mean 5/3, v = (2 * 4/9 + 16/9) / 2 = 4/3, / 3 = 4/9; 4 6 6: v = 4/3 too
    drawn = torch.tensor([[2.0, 0.0, 1.0, 1.0, 2.0]])
    found = variance_of_drawn_mean(REWARDS, drawn, SESSION, LENGTHS, replaced=True)
    close(found, [[4 / 9, 4 / 9]])


@pytest.mark.parametrize("replaced", [False, True])
def test_on_average_over_all_draws_the_correction_is_exact(replaced):
    # all 3 pairs of the turns 1 2 3, or all 9 ordered pairs: mean of (mean of pair)^2 less the
    # correction is (mean of all)^2 = 4
    pairs = [(a, b) for a in range(3) for b in range(3) if replaced or a < b]
    rewards = torch.tensor([[1.0, 2.0, 3.0]]).expand(len(pairs), 3)
    drawn = torch.zeros(len(pairs), 3)
    for row, (a, b) in enumerate(pairs):
        drawn[row, a] += 1
        drawn[row, b] += 1
    session, length = torch.tensor([0, 0, 0]), torch.tensor([3])
    squares = session_means(rewards, drawn, session, 1).square()
    excess = variance_of_drawn_mean(rewards, drawn, session, length, replaced=replaced)
    close((squares - excess).mean(), 4.0)


def test_one_draw_of_several_turns_has_no_spread_to_correct_by():
    drawn = torch.tensor([[1.0, 0.0, 0.0, 1.0, 1.0]])
    with pytest.raises(ValueError, match="draw at least two"):
        variance_of_drawn_mean(REWARDS, drawn, SESSION, LENGTHS, replaced=False)


def test_every_turn_is_held_against_an_equal_share():
    # shares 6/3 = 2 and 8/2 = 4: (1 + 0 + 1) / 3 and (0 + 4) / 2
    scores = torch.tensor([[6.0, 8.0]])
    found = share_errors(REWARDS, torch.ones_like(REWARDS), SESSION, LENGTHS.float(), scores)
    close(found, [[2 / 3, 2.0]])


def test_rudder_holds_every_beginning_against_the_score():
    # guesses 1 3 6 of 5: 1 + (16 + 4 + 1) / 6 = 4.5; guesses 4 10 of 10: 0 + (36 + 0) / 4 = 9
    totals = prefix_sums(REWARDS, SESSION, STARTS)
    scores = torch.tensor([[5.0, 10.0]])
    found = prefix_errors(totals, SESSION, STARTS, LENGTHS, scores, squared_mean=False)
    close(found, [[4.5, 9.0]])


def test_the_released_auxiliary_loss_lets_errors_cancel():
    # gaps -4 -2 1, mean -5/3: 1 + 25/18; gaps -6 0, mean -3: 0 + 9/2
    totals = prefix_sums(REWARDS, SESSION, STARTS)
    scores = torch.tensor([[5.0, 10.0]])
    found = prefix_errors(totals, SESSION, STARTS, LENGTHS, scores, squared_mean=True)
    close(found, [[1 + 25 / 18, 4.5]])
