import torch

from drl.ops.masked import masked_sum, whitened


def test_what_does_not_count_may_be_anything():
    values = torch.tensor([1.0, float("nan"), 3.0])
    mask = torch.tensor([True, False, True])
    assert masked_sum(values, mask) == 4.0


def test_a_value_that_counts_twice_is_as_good_as_two_values():
    # 1, 1, 4: mean 2, variance (1 + 1 + 4) / 3 = 2
    twice = whitened(torch.tensor([1.0, 4.0]), torch.tensor([2.0, 1.0]))
    torch.testing.assert_close(twice, torch.tensor([-1.0, 2.0]) / 2**0.5)


def test_equal_values_become_nothing_instead_of_noise():
    assert whitened(torch.full((3,), 7.0), torch.ones(3)).tolist() == [0.0, 0.0, 0.0]
