"""A learner's state in a folder: weights, critic, start, optimizer, and how often it has learned.

Everything is safetensors and JSON; nothing that is read back can run code. A folder appears whole:
who is killed while writing leaves the last one, at its place or where `has_state` finds it.
"""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from drl.errors import RunError
from drl.ppo.learner import PPOLearner
from drl.runtime.drafts import drafted_folder, is_there

WEIGHTS = "policy.safetensors"
OPTIMIZER = "optimizer.safetensors"
STATE = "state.json"


def save_learner(learner: PPOLearner, folder: Path) -> None:
    """Write the state of a learner.

    Raises:
        RunError: it cannot be written.
    """
    try:
        with drafted_folder(folder) as draft:
            save_file(_contiguous(learner.policy.state()), draft / WEIGHTS)
            save_file(_contiguous(_optimizer_tensors(learner)), draft / OPTIMIZER)
            state = {"num_updates": learner.num_updates, "num_bad_steps": learner.num_bad_steps}
            (draft / STATE).write_text(json.dumps(state))
    except (OSError, SafetensorError) as error:
        raise RunError(
            f"{folder}: cannot be written ({error}); make room and start the same command again"
        ) from error


def has_state(folder: Path) -> bool:
    """Whether there is a state to go on from; one that a killed save laid aside is put back."""
    return is_there(folder)


def load_learner_state(learner: PPOLearner, folder: Path) -> None:
    """Take up a state that `save_learner` wrote.

    Raises:
        RunError: a file is missing or damaged.
        ConfigError: the state is of another policy.
    """
    try:
        weights = load_file(folder / WEIGHTS)
        moments = load_file(folder / OPTIMIZER)
        state = json.loads((folder / STATE).read_text())
    except (OSError, ValueError, SafetensorError) as error:
        raise RunError(
            f"{folder}: cannot be read ({error}); remove the folder to begin with the first update"
        ) from error
    learner.policy.load_state(weights)
    _load_optimizer(learner, moments)
    learner.num_updates = state["num_updates"]
    learner.num_bad_steps = state["num_bad_steps"]


def _optimizer_tensors(learner: PPOLearner) -> dict[str, Tensor]:
    """What the optimizer keeps of each weight, by the weight's place and the name of the value."""
    state = learner.optimizer.state_dict()["state"]
    return {
        f"{place}.{name}": value
        for place, kept in state.items()
        for name, value in kept.items()
        if isinstance(value, Tensor)
    }


def _load_optimizer(learner: PPOLearner, tensors: dict[str, Tensor]) -> None:
    kept: dict[int, dict[str, Tensor]] = {}
    for key, value in tensors.items():
        place, name = key.split(".", 1)
        kept.setdefault(int(place), {})[name] = value
    now = learner.optimizer.state_dict()
    learner.optimizer.load_state_dict({"state": kept, "param_groups": now["param_groups"]})


def _contiguous(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Copies that share no memory, as safetensors wants them."""
    with torch.no_grad():
        return {name: tensor.detach().clone().contiguous() for name, tensor in tensors.items()}
