"""python -m tests.ppo.shared_update OUT: two updates of a learner, by one process or by several.

Of several processes each takes every n-th dialogue of the batch.
"""

import os
import sys

from accelerate import PartialState
from safetensors.torch import save_file

from drl.ppo.learner import PPOLearner
from drl.ppo.policy import Policy
from tests.ppo.models import critic, dialogue, make, settings

BATCH = [
    dialogue([1, 11, 12], ([21, 22, 23], 1.0), ([24, 2], 0.0)),
    dialogue([1, 13], ([25, 2], 0.5), ([26], -1.0), ([27, 28], 1.0)),
    dialogue([1, 14, 15, 16], ([30], 0.25)),
]


def main(out: str) -> None:
    """Learn, and let the first process write what came of it."""
    PartialState(cpu=True)
    rank, count = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
    policy = Policy(make("llama"), critic(), 1.0, seed=0)
    learner = PPOLearner(policy, settings(whiten=True, epochs=2, kl_weight=0.1), seed=0)
    for _ in range(2):
        learner.update(BATCH[rank::count])
    if rank == 0:
        save_file({name: tensor.clone() for name, tensor in policy.state().items()}, out)


if __name__ == "__main__":
    main(sys.argv[1])
