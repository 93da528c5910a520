"""Learning rates by step, held against those of transformers after the warm-up."""

import pytest
import torch
from transformers.optimization import get_scheduler

from drl.ops.learning_rates import share_of_rate


@pytest.mark.parametrize("schedule", ["linear", "cosine", "constant"])
@pytest.mark.parametrize("num_steps", [1, 2, 3, 40])
def test_no_step_learns_nothing_however_few_there_are(schedule, num_steps):
    for num_warmup in range(num_steps + 1):
        shares = [
            share_of_rate(k, schedule=schedule, num_warmup=num_warmup, num_steps=num_steps)
            for k in range(num_steps)
        ]
        assert min(shares) > 0
        assert max(shares) == 1


def test_a_warm_up_of_four_steps_rises_by_quarters():
    shares = [share_of_rate(k, schedule="constant", num_warmup=4, num_steps=9) for k in range(6)]
    assert shares == [0.25, 0.5, 0.75, 1, 1, 1]


@pytest.mark.parametrize("schedule", ["linear", "cosine", "constant"])
def test_after_the_warm_up_rates_are_those_of_transformers(schedule):
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    theirs = get_scheduler(schedule, optimizer, num_warmup_steps=3, num_training_steps=10)
    for k in range(11):
        if k >= 3:
            ours = share_of_rate(k, schedule=schedule, num_warmup=3, num_steps=10)
            assert ours == pytest.approx(theirs.get_last_lr()[0])
        optimizer.step()
        theirs.step()
