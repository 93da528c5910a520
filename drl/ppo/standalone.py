"""A learner's folder and the model it began with, as one checkpoint that transformers reads.

The weights that learned take the place of the model's; adapters are merged; the critic stays
behind. What is saved is loaded again and held against the model in memory before it appears.
"""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drl.errors import ConfigError, DataError, RunError
from drl.models.probe import probe_ids
from drl.ppo.checkpoint import WEIGHTS
from drl.runtime.drafts import drafted_folder

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel

ADAPTER_CONFIG = "adapter_config.json"
_LEARNED = "policy.model."
_PROBE_LENGTH = 8
_TOLERANCE = 1e-4  # of a logit, as a share of the largest, by rounding sums of adapters


@dataclass(frozen=True, slots=True, kw_only=True)
class Standalone:
    """What was written: the largest change of a logit by learning, and by writing."""

    folder: Path
    num_weights: int
    learned_change: float
    logit_difference: float


def write_standalone(base: str, learned: Path, out: Path) -> Standalone:
    """Write a checkpoint of a model with what a learner made of it.

    It is float32 where something learned in float32, whatever the base is.

    Args:
        base: the model that it began with: an id on the hub, or a folder.
        learned: what `save_learner` wrote, with PEFT's config of the adapter, if that learned.
        out: a folder that is not there, or empty.

    Raises:
        ConfigError: the base cannot be loaded, or is another than the learner's.
        DataError: what was learned cannot be read, or what was written answers otherwise.
        RunError: `out` is taken, or cannot be written.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise RunError(f"{out} is there already; choose another folder")
    weights = _read(learned)
    model, tokenizer = _load(base)
    before = _logits(model)
    model = _put_in(model, weights, learned, base)
    learned_logits = _logits(model)
    try:
        with drafted_folder(out) as draft:
            model.save_pretrained(draft)
            tokenizer.save_pretrained(draft)
            difference = _largest(learned_logits, _logits(_load(str(draft))[0]))
            if not difference <= _TOLERANCE * float(learned_logits.abs().max()):
                raise DataError(
                    f"{learned} with {base}: the checkpoint answers otherwise than the model that "
                    f"was saved, logits differ by up to {difference:.3g}"
                )
    except OSError as error:
        raise RunError(f"{out}: cannot be written ({error}); choose another folder") from error
    return Standalone(
        folder=out,
        num_weights=len(weights),
        learned_change=_largest(before, learned_logits),
        logit_difference=difference,
    )


def _read(folder: Path) -> dict[str, Tensor]:
    """What learned, by its name in the model."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        state = load_file(folder / WEIGHTS)
    except (OSError, SafetensorError) as error:
        raise DataError(
            f"{folder / WEIGHTS} cannot be read ({error}); name a folder that an agent or a "
            "learner was saved to"
        ) from error
    return {
        name.removeprefix(_LEARNED): weight
        for name, weight in state.items()
        if name.startswith(_LEARNED)
    }


def _load(base: str) -> tuple[PreTrainedModel, Any]:
    """A model of the kind that its config names, and its tokenizer."""
    from transformers import (
        AutoConfig,
        AutoModelForCausalLM,
        AutoModelForSeq2SeqLM,
        AutoTokenizer,
    )

    try:
        config = AutoConfig.from_pretrained(base)
        kind = AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM
        return kind.from_pretrained(base).eval(), AutoTokenizer.from_pretrained(base)
    except (OSError, ValueError, KeyError, ImportError) as error:
        cause = " ".join(str(error).split())
        raise ConfigError(f"model {base} cannot be loaded ({cause}); name its folder") from error


def _put_in(
    model: PreTrainedModel, weights: dict[str, Tensor], folder: Path, base: str
) -> PreTrainedModel:
    """The model with what was learned, and no adapter."""
    import torch

    from drl.ppo.trainable import output_layer, train_only

    adapted = _with_adapter(model, folder) if (folder / ADAPTER_CONFIG).is_file() else None
    head = output_layer(model)
    head_names = {f"{name}.weight" for name, module in model.named_modules() if module is head}
    if head_names & weights.keys():
        train_only(model, "lm_head")  # gives it weights of its own, as learning did
        _separate(model)
    if any(weight.dtype == torch.float32 for weight in weights.values()):
        model.float()  # small steps would be rounded away
    own = dict(model.named_parameters())
    other = sorted(
        name for name in weights if name not in own or own[name].shape != weights[name].shape
    )
    if other:
        raise ConfigError(
            f"{folder} learned {other[0]} of shape {list(weights[other[0]].shape)}, which {base} "
            "does not have; name the model that it was trained from"
        )
    with torch.no_grad():
        for name, weight in weights.items():
            own[name].copy_(weight)
    return model if adapted is None else adapted.merge_and_unload(safe_merge=True)


def _separate(model: PreTrainedModel) -> None:
    """Give modules that share a weight one each.

    Models whose output layer is no longer tied to their embedding are loaded with nothing tied;
    BART's encoder and decoder would be without the embedding that they share.
    """
    from torch import nn

    seen: set[int] = set()
    for module in model.modules():
        for name, weight in list(module.named_parameters(recurse=False)):
            if id(weight) in seen:
                setattr(module, name, nn.Parameter(weight.detach().clone()))
            seen.add(id(weight))


def _with_adapter(model: PreTrainedModel, folder: Path) -> Any:
    """PEFT's layers in a model, as they were when the learner began."""
    from peft import PeftConfig, get_peft_model

    try:
        told = json.loads((folder / "agent.json").read_text())["adapter"]
        config = PeftConfig.from_pretrained(str(folder))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"{folder} does not say of its adapter what it was ({error}); name a folder that "
            "agent.save wrote"
        ) from error
    with warnings.catch_warnings():
        # peft 0.21 asks transformers 5.24 for a setting under its old name
        warnings.filterwarnings("ignore", "`is_gradient_checkpointing`", FutureWarning)
        return get_peft_model(model, config, adapter_name=told)


def _logits(model: PreTrainedModel) -> Tensor:
    """Of a few tokens, float32."""
    import torch

    size = model.config.get_text_config().vocab_size
    ids = torch.tensor([probe_ids(size, _PROBE_LENGTH)])
    more = {"decoder_input_ids": ids} if model.config.is_encoder_decoder else {}
    with torch.inference_mode():
        return model(input_ids=ids, **more).logits.float()


def _largest(some: Tensor, others: Tensor) -> float:
    return float((some - others).abs().max())
