"""What several processes that learn together have to agree on: sums.

Every process plays its own dialogues and computes its own gradients; sums make one batch of them.
"""

from __future__ import annotations

import os

from torch import Tensor


def summed(tensor: Tensor) -> Tensor:
    """The sum over all processes of an equally shaped tensor; itself where there is one."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        return tensor
    from accelerate.utils import reduce

    total = reduce(tensor, reduction="sum")
    assert isinstance(total, Tensor), "it gives what it was given"
    return total
