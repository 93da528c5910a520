"""What samples while an online trainer trains: transformers in this process, or vLLM."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from drl.errors import ConfigError


@dataclass(frozen=True, slots=True)
class HFRollout:
    """Sampling with transformers, which is what happens unless something else is asked for."""

    backend: str = "hf"


def vllm_config(
    tensor_parallel_size: int = 1,
    gpu_memory_utilization: float = 0.6,
    dtype: str = "auto",
    max_model_len: int | None = None,
    **extra: Any,
) -> dict[str, Any]:
    """Settings for `TextRLConfig.extra` that let vLLM sample, in the process that trains.

    Args:
        tensor_parallel_size: over how many GPUs the model is spread.
        gpu_memory_utilization: share of a GPU's memory that vLLM takes.
        dtype: auto only: TRL gives vLLM the number format of the model that is trained.
        max_model_len: the longest prompt and completion in tokens; None asks the model.
        extra: more settings of TRL.

    Raises:
        ConfigError: dtype is another.
    """
    if dtype != "auto":
        raise ConfigError(
            f"dtype={dtype} cannot be chosen for vLLM alone, it has that of the model; leave it "
            "out, and name it to load_model as torch_dtype"
        )
    settings: dict[str, Any] = {
        "use_vllm": True,
        "vllm_mode": "colocate",
        "vllm_tensor_parallel_size": tensor_parallel_size,
        "vllm_gpu_memory_utilization": gpu_memory_utilization,
    }
    if max_model_len is not None:
        settings["vllm_max_model_length"] = max_model_len
    return settings | extra


def rollout_settings(rollout: Mapping[str, Any] | None) -> dict[str, Any]:
    """The settings of TRL that `TextRLConfig.rollout` stands for.

    Raises:
        ConfigError: there is no such backend, or it has no such setting.
    """
    if rollout is None:
        return {}
    rest = dict(rollout)
    backend = rest.pop("backend", "hf")
    if backend == "vllm":
        return vllm_config(**rest)
    if backend != "hf":
        raise ConfigError(f"rollout.backend={backend} must be hf or vllm")
    if rest:
        raise ConfigError(f"rollout.{min(rest)} is for backend=vllm; leave it out")
    return {}
