import torch

from drl.ppo.layout import lay_out
from drl.ppo.trajectory import Trajectory, TurnRecord
from drl.trainer._flat_rows import flat_rows
from drl.trainer._turn_advantages import advantages_of
from drl.types import Sampled

PAD = 0


def call(prompt, said):
    return Sampled(tuple(prompt), tuple(said), tuple(-float(token) for token in said))


def turn(prompt, said, advantage=1.0, weight=1.0):
    return TurnRecord((call(prompt, said),), 0.0, advantage=advantage, weight=weight)


def rows_of(*dialogues, pieces=1):
    trajectories = [Trajectory(tuple(turns), "a") for turns in dialogues]
    layout = lay_out(trajectories, "turn", None)
    return flat_rows(layout, advantages_of(trajectories, layout, "dialogue"), PAD, pieces)


def test_a_dialogue_is_one_row_in_which_only_what_the_policy_wrote_counts():
    rows = rows_of([turn([1, 2], [3, 4], 0.5), turn([1, 2, 3, 4, 5, 6], [7], -2.0)])
    assert rows.ids_RL.tolist() == [[1, 2, 3, 4, 5, 6, 7]]
    assert rows.learns_RL.int().tolist() == [[0, 0, 1, 1, 0, 0, 1]]
    assert rows.advantages_RL.tolist() == [[0.0, 0.0, 0.5, 0.5, 0.0, 0.0, -2.0]]
    assert rows.log_probs_RL.tolist() == [[0.0, 0.0, -3.0, -4.0, 0.0, 0.0, -7.0]]
    assert rows.num_read == 2


def test_calls_that_do_not_extend_one_another_are_rows_of_their_own():
    rows = rows_of([turn([1, 2, 3], [4]), turn([1, 9], [5, 6])])
    assert rows.ids_RL.tolist() == [[1, 2, 3, 4], [1, 9, 5, 6]]
    assert rows.learns_RL.int().tolist() == [[0, 0, 0, 1], [0, 0, 1, 1]]
    assert rows.num_read == 2


def test_nothing_is_padded_on_the_left():
    rows = rows_of([turn([1], [2])], [turn([3, 4, 5], [6, 7])])
    assert rows.ids_RL.tolist() == [[1, 2, PAD, PAD, PAD], [3, 4, 5, 6, 7]]
    assert rows.is_real_RL.int().tolist() == [[1, 1, 0, 0, 0], [1, 1, 1, 1, 1]]
    assert rows.num_read == 1


def test_rows_end_with_the_last_token_that_is_learned_and_without_any_they_are_left_out():
    rows = rows_of([turn([1], [2]), turn([1, 2, 3], [4], weight=0.0)], [turn([5], [6], weight=0.0)])
    assert rows.ids_RL.tolist() == [[1, 2]]


def test_empty_rows_make_the_pieces_equal():
    rows = rows_of(*([turn([1], [2, 3])] for _ in range(4)), pieces=3)
    assert rows.ids_RL.shape == (6, 3)
    assert rows.num_empty == 2
    assert not rows.learns_RL[4:].any()
    assert rows.is_real_RL[4:].int().tolist() == [[1, 0, 0]] * 2


def test_a_batch_in_which_nothing_is_learned_is_empty_rows():
    rows = rows_of([turn([1], [2], weight=0.0)], pieces=2)
    assert rows.num_empty == 2
    assert not torch.any(rows.learns_RL)
