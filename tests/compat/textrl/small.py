"""Small models, rows and settings for TextRL's trainers, and whether one of them learned."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from drl.compat.textrl import TextRLConfig

CHAT = [{"role": "user", "content": "Say a."}]
PROMPTS = ["one", "two", "three", "four"]
PAIRS = [{"prompt": prompt, "chosen": " yes, surely", "rejected": " no"} for prompt in PROMPTS]
LABELS = [
    {"prompt": prompt, "completion": completion, "label": label}
    for prompt in PROMPTS
    for completion, label in ((" yes", True), (" no", False))
]


def config(algo: str, folder: Path, **changes: Any) -> TextRLConfig:
    """One update with a rate at which every weight moves; samples of at most six tokens."""
    extra = {"use_cpu": True, "dataloader_pin_memory": False, "gradient_checkpointing": False}
    if algo in ("grpo", "rloo", "reinforce_pp"):
        extra["max_completion_length"] = 6
    settings: dict[str, Any] = {
        "learning_rate": 1e-2,
        "max_steps": 1,
        "logging_steps": 1,
        "save_steps": 100,
    }
    extra |= changes.pop("extra", {})
    return TextRLConfig(algo=algo, output_dir=str(folder), **(settings | changes), extra=extra)


def letters(prompts: list[str], completions: list[str], **columns: Any) -> list[float]:
    """A reward that differs between completions: the number of their code points, weighted."""
    return [sum(map(ord, text)) / 1000 + place for place, text in enumerate(completions)]


def weights_of(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """A copy of the weights that are trained."""
    return {name: weight.detach().clone() for name, weight in _trained(model)}


def moved(model: torch.nn.Module, before: dict[str, torch.Tensor]) -> bool:
    """Whether some weight is another now, and all are numbers."""
    now = dict(_trained(model))
    assert all(bool(weight.isfinite().all()) for weight in now.values())
    return any(not torch.equal(now[name], old) for name, old in before.items())


def _trained(model: torch.nn.Module) -> Iterator[tuple[str, torch.nn.Parameter]]:
    return ((name, weight) for name, weight in model.named_parameters() if weight.requires_grad)
