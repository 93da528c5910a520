"""The processes that train one model together, as `accelerate launch` and `torchrun` start them.

What they share, and how, is accelerate's to say (its config file, or `torchrun`: DDP). All of them
run the same command; the first one mines and writes, the others wait for it and read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from drl.errors import ConfigError


def num_processes() -> int:
    """How many there are."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def is_sharded() -> bool:
    """Whether no process holds the whole model (FSDP, DeepSpeed)."""
    names = ("ACCELERATE_USE_FSDP", "ACCELERATE_USE_DEEPSPEED")
    return any(os.environ.get(name, "false").lower() in ("1", "true") for name in names)


def join(device: str) -> None:
    """Meet the other processes, and take this one's GPU; to be called before a model is loaded.

    Raises:
        ConfigError: there is one process, but more GPUs, of which TRL would want to use all.
    """
    if num_processes() > 1:
        from accelerate import PartialState

        PartialState(cpu=device == "cpu")
    elif device == "cuda":
        import torch

        if torch.cuda.device_count() > 1:
            raise ConfigError(
                f"llm.device=cuda: {torch.cuda.device_count()} GPUs are there, but this is one "
                "process; start run.py with accelerate launch, or show it one GPU with "
                "CUDA_VISIBLE_DEVICES=0"
            )


@contextmanager
def first_one_first() -> Iterator[None]:
    """The body is run by the first process, and then by the others."""
    if num_processes() == 1:
        yield
        return
    from accelerate import PartialState

    with PartialState().main_process_first():
        yield
