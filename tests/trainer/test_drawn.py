"""A handful of tasks that stands for all of them."""

from itertools import pairwise

import pytest

from drl.errors import ConfigError
from drl.trainer._drawn import spread
from drl.trainer.estimate import EstimateTrainer


@pytest.mark.parametrize("count", [2, 3, 5, 8, 21])
@pytest.mark.parametrize("seed", range(20))
def test_every_stretch_of_the_whole_has_its_share(count, seed):
    positions = spread(count, 1000, seed)
    assert len(set(positions)) == count
    assert positions == sorted(positions)
    # steps of the golden section leave no gap of more than (1 + sqrt 5) / 2 squared mean ones
    around = [*positions, positions[0] + 1000]
    assert max(b - a for a, b in pairwise(around)) <= 2.62 * 1000 / count + 1


def test_more_tasks_are_the_same_ones_and_others():
    assert set(spread(5, 450, 0)) < set(spread(6, 450, 0)) < set(spread(50, 450, 0))


def test_the_seed_decides():
    assert spread(5, 450, 0) == spread(5, 450, 0)
    assert spread(5, 450, 0) != spread(5, 450, 1)
    assert len({spread(1, 450, seed)[0] for seed in range(30)}) > 20


@pytest.mark.parametrize("total", [1, 2, 7, 50])
def test_no_more_than_all_can_be_drawn(total):
    assert spread(total, total, 3) == list(range(total))
    assert spread(total + 5, total, 3) == list(range(total))
    assert len(spread(total - 1, total, 3)) == total - 1


def test_none_at_all_is_refused():
    with pytest.raises(ConfigError, match=r"trainer\.num_tasks=0 must be at least 1"):
        EstimateTrainer(num_tasks=0, trials=1)
