import torch

from drl.turn_reward.ragged import Layout
from drl.turn_reward.subsets import draw_turns

LAYOUT = Layout(torch.tensor([4, 1, 2]))


def generators(*seeds):
    return [torch.Generator().manual_seed(seed) for seed in seeds]


def per_session(drawn):
    return torch.stack([drawn[:, :4].sum(1), drawn[:, 4:5].sum(1), drawn[:, 5:].sum(1)], dim=1)


def test_no_turn_is_drawn_twice_and_short_sessions_are_drawn_whole():
    drawn = draw_turns(LAYOUT, 2, generators(*range(50)), replaced=False)
    assert set(drawn.unique().tolist()) == {0.0, 1.0}
    assert (per_session(drawn) == torch.tensor([2.0, 1.0, 2.0])).all()


def test_with_replacement_every_session_has_all_its_draws():
    drawn = draw_turns(LAYOUT, 3, generators(*range(50)), replaced=True)
    assert (per_session(drawn) == 3.0).all()
    assert drawn.max() > 1


def test_all_turns_of_a_session_are_drawn_as_often():
    # 4000 draws of 2 of 4 turns: each 2000 times, with a deviation of sqrt(4000 / 4) = 32
    for replaced in (False, True):
        drawn = draw_turns(LAYOUT, 2, generators(*range(4000)), replaced=replaced)
        assert ((drawn[:, :4].sum(0) - 2000).abs() < 160).all()


def test_a_member_draws_the_same_whoever_else_is_drawing():
    together = draw_turns(LAYOUT, 2, generators(7, 8), replaced=False)
    alone = draw_turns(LAYOUT, 2, generators(8), replaced=False)
    assert torch.equal(together[1:], alone)
