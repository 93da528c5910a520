"""PEFT adapters: new ones, and trained ones put into the model they were trained for."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from drl.errors import ConfigError

if TYPE_CHECKING:
    from peft import PeftConfig, PeftModel
    from transformers import PreTrainedModel

ADAPTER_CONFIG = "adapter_config.json"
ADAPTER_WEIGHTS = "adapter_model.safetensors"


def new_adapter(
    model: PreTrainedModel, *, rank: int, alpha: int, dropout: float, modules: str | list[str]
) -> PeftModel:
    """A model with a trainable LoRA adapter that changes nothing yet.

    Args:
        model: the base.
        rank: of the updates.
        alpha: they are scaled by alpha / rank.
        dropout: of what goes into them while they are trained.
        modules: names of linear layers, or all-linear.

    Raises:
        ConfigError: the model has no such layers.
    """
    from peft import LoraConfig, get_peft_model

    config = LoraConfig(
        r=rank,
        lora_alpha=alpha,
        lora_dropout=dropout,
        target_modules=modules,
        bias="none",
        task_type="CAUSAL_LM",
    )
    _quieten()
    try:
        return get_peft_model(model, config)
    except ValueError as error:
        raise ConfigError(
            f"trainer.lora.modules={modules} does not fit {model.name_or_path} ({error}); use "
            "all-linear"
        ) from error


def put_in(
    model: PreTrainedModel, base: Path, adapter: Path, *, is_trainable: bool = False
) -> PeftModel:
    """Put an adapter into a model, whose layers then apply it; gives the two as PEFT has them.

    It is not merged: rounded to bfloat16 together, weights would swallow small changes, and
    log-probabilities would not be those of the training that made it.

    Args:
        model: the base.
        base: the folder it came from.
        adapter: a folder in PEFT's layout.
        is_trainable: whether its weights are to be trained further.

    Raises:
        ConfigError: the folder holds no adapter, or one for another base.
    """
    from peft import (
        get_peft_model,
        get_peft_model_state_dict,
        load_peft_weights,
        set_peft_model_state_dict,
    )

    config = _read_config(base, adapter)
    wanted = config.base_model_name_or_path or "another model"
    config.inference_mode = not is_trainable
    config.base_model_name_or_path = model.name_or_path  # peft warns where it is another path
    _quieten()
    try:
        adapted = get_peft_model(model, config)
        weights = load_peft_weights(str(adapter), device=str(model.device))
        loaded = set_peft_model_state_dict(adapted, weights)
    except (RuntimeError, ValueError, KeyError) as error:
        raise _other_base(wanted, base, adapter, str(error)) from error
    needed = set(get_peft_model_state_dict(adapted, save_embedding_layers=False))
    amiss = [*loaded.unexpected_keys, *(needed - weights.keys())]
    if amiss:
        raise _other_base(wanted, base, adapter, f"{len(amiss)} weights do not match, {amiss[0]}")
    if not is_trainable:
        adapted.eval()  # PEFT's layers come with their dropout on
    return adapted


def _read_config(base: Path, adapter: Path) -> PeftConfig:
    """The config of an adapter that may belong to this base."""
    from peft import PeftConfig

    if not (adapter / ADAPTER_WEIGHTS).is_file():
        raise ConfigError(
            f"llm.adapter={adapter} holds no {ADAPTER_WEIGHTS}; name a folder that PEFT saved"
        )
    try:
        config = PeftConfig.from_pretrained(str(adapter))
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ConfigError(
            f"llm.adapter={adapter} cannot be read ({error}); name a folder that PEFT saved"
        ) from error
    _check(config, base, adapter)
    return config


def _quieten() -> None:
    """Pass over that peft 0.21 asks transformers 5.24 for a setting under its old name.

    For the whole process: models are loaded by a thread of their own, and filters that are set for
    a while are those of all threads, so that setting them back would undo what others have set.
    """
    warnings.filterwarnings("ignore", "`is_gradient_checkpointing`", FutureWarning)


def _check(config: PeftConfig, base: Path, adapter: Path) -> None:
    if config.is_prompt_learning:
        raise ConfigError(
            f"llm.adapter={adapter} is of kind {config.peft_type}, which puts tokens before the "
            "prompt; use one that changes weights, such as LoRA"
        )
    wanted = config.base_model_name_or_path
    if wanted and _plain_name(wanted) != _plain_name(str(base)):
        raise _other_base(wanted, base, adapter, "its base has another name")


def _plain_name(name: str) -> str:
    """A model's name without its owner or folder, in lower-case letters and digits."""
    path = Path(name)
    # the hub's cache keeps `owner/name` as models--owner--name/snapshots/<commit>
    last = path.parents[1].name.split("--")[-1] if path.parent.name == "snapshots" else path.name
    return re.sub(r"[^a-z0-9]", "", last.lower())


def _other_base(wanted: str, base: Path, adapter: Path, cause: str) -> ConfigError:
    return ConfigError(
        f"llm.adapter={adapter} was trained on {wanted}, but llm.model is {base} "
        f"({' '.join(cause.split())[:200]}); set llm.model={wanted}, or where that is the same "
        f"model under another name, base_model_name_or_path in {ADAPTER_CONFIG}"
    )
