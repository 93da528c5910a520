"""What one session score says about its turns, and how well turns add up to it.

Sessions are ragged: their turns stand one after another on one flat axis, and nothing is padded.

Axes: M members (models that learn side by side), B sessions, N turns of all of them.
`session_N` tells of each turn the number of its session, and does not fall along the axis.
"""

from __future__ import annotations

import torch
from torch import Tensor


def session_sums(values_MN: Tensor, session_N: Tensor, num_sessions: int) -> Tensor:
    """The sum over the turns of each session, float [M, B]; 0 for one without turns."""
    sums_MB = values_MN.new_zeros(values_MN.shape[0], num_sessions)
    return sums_MB.index_add(1, session_N, values_MN)


def session_means(values_MN: Tensor, weights_MN: Tensor, session_N: Tensor, num: int) -> Tensor:
    """The weighted mean over the turns of each of `num` sessions, float [M, B].

    0 for a session whose weights are all 0. With how often turns were drawn as weights it is the
    mean over the draw.
    """
    sums_MB = session_sums(values_MN * weights_MN, session_N, num)
    total_MB = session_sums(weights_MN, session_N, num)
    return sums_MB / torch.where(total_MB > 0, total_MB, 1.0)


def prefix_sums(values_MN: Tensor, session_N: Tensor, starts_B: Tensor) -> Tensor:
    """The sum of each turn and those before it in its session, float [M, N].

    Args:
        values_MN: float [M, N].
        session_N: int [N].
        starts_B: int [B], the place of each session's first turn on the flat axis.
    """
    # in double: a difference of two sums over all sessions, which cancels
    sums_MN = values_MN.double().cumsum(1)
    before_MN = (sums_MN - values_MN.double())[:, starts_B[session_N]]
    return (sums_MN - before_MN).to(values_MN.dtype)


def variance_of_drawn_mean(
    rewards_MN: Tensor, drawn_MN: Tensor, session_N: Tensor, lengths_B: Tensor, *, replaced: bool
) -> Tensor:
    """How far the mean of a draw lies from the mean of all turns, squared, in expectation.

    The square of the drawn mean is too large by this much on average; it is estimated without
    bias from the spread v of the draw itself: v / K where turns are put back, and
    (1 - K / T) v / K where they are not. Float [M, B]; 0 where all turns were drawn.

    Args:
        rewards_MN: float [M, N].
        drawn_MN: float [M, N], how often each turn was drawn.
        session_N: int [N].
        lengths_B: int [B], turns T of each session.
        replaced: whether a turn may be drawn twice.

    Raises:
        ValueError: a session has one draw, but more turns, so its spread cannot be told.

    Source: the bias-variance decomposition in Ren et al. 2022 (arXiv:2111.13485), section 3.2.
    """
    num = len(lengths_B)
    count_MB = session_sums(drawn_MN, session_N, num)
    if ((count_MB < 2) & ((lengths_B > 1) | replaced)).any():
        raise ValueError("a draw of one turn has no spread; draw at least two of each session")
    mean_MB = session_means(rewards_MN, drawn_MN, session_N, num)
    squares_MN = (rewards_MN - mean_MB[:, session_N]).square()
    spread_MB = session_sums(squares_MN * drawn_MN, session_N, num) / (count_MB - 1).clamp(min=1)
    share_MB = torch.zeros_like(count_MB) if replaced else count_MB / lengths_B
    return (1 - share_MB) * spread_MB / count_MB


def return_errors(means_MB: Tensor, sizes_B: Tensor, scores_MB: Tensor) -> Tensor:
    """The squared gap between each score and what the turns amount to, float [M, B].

    Args:
        means_MB: float [M, B], mean reward of a session's turns, or of those that were drawn.
        sizes_B: float [B] or [M, B], how many such means make a total: the number of turns where
            rewards add up to the score, 1 where the score is their mean.
        scores_MB: float [M, B].

    With the mean over K drawn turns and size T it is the loss of randomised return decomposition,
    (R - T/K sum_k r_k)^2, Ren et al. 2022 (arXiv:2111.13485), equation 6; with all of them, of
    return decomposition.
    """
    return (scores_MB - sizes_B * means_MB).square()


def share_errors(
    rewards_MN: Tensor, weights_MN: Tensor, session_N: Tensor, sizes_B: Tensor, scores_MB: Tensor
) -> Tensor:
    """The mean squared gap between turns and an equal share R / size of the score, float [M, B].

    Source: the guidance reward of Gangwani, Zhou and Peng 2020, "Learning guidance rewards with
    trajectory-space smoothing": a turn earns what the whole trajectory returned.
    """
    shares_MB = scores_MB / sizes_B
    squares_MN = (rewards_MN - shares_MB[:, session_N]).square()
    return session_means(squares_MN, weights_MN, session_N, scores_MB.shape[1])


def prefix_errors(
    totals_MN: Tensor,
    session_N: Tensor,
    starts_B: Tensor,
    lengths_B: Tensor,
    scores_MB: Tensor,
    *,
    squared_mean: bool,
) -> Tensor:
    """The squared gap at the last turn and half the mean of it over all turns, float [M, B].

    RUDDER learns to tell the score from every beginning of a session, so that the difference of
    two neighbouring guesses says what a turn was worth: (g_T - R)^2 + 1/2 mean_t (g_t - R)^2.

    Args:
        totals_MN: float [M, N], what is guessed after each turn.
        session_N: int [N].
        starts_B: int [B].
        lengths_B: int [B].
        scores_MB: float [M, B].
        squared_mean: take the square of the mean instead, as GELI's released code does, where
            errors of both signs cancel.

    Source: Arjona-Medina et al. 2019 (arXiv:1806.07857), appendix on the LSTM's loss.
    """
    gaps_MN = totals_MN - scores_MB[:, session_N]
    last_MB = gaps_MN[:, starts_B + lengths_B - 1]
    num = len(lengths_B)
    if squared_mean:
        aside_MB = (session_sums(gaps_MN, session_N, num) / lengths_B).square()
    else:
        aside_MB = session_sums(gaps_MN.square(), session_N, num) / lengths_B
    return last_MB.square() + 0.5 * aside_MB
