"""Loads a causal model and its tokenizer from a folder, with an adapter if there is one.

Weights are read from safetensors only: a pickle could run code.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from drl.errors import ConfigError
from drl.models.adapter import put_in
from drl.models.one_at_a_time import LOADING

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

WEIGHTS = "*.safetensors"


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model in evaluation mode, with its adapter in it, and its tokenizer."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase

    @property
    def context(self) -> int | None:
        """The longest sequence in tokens; None where the model has no bound."""
        return context_of(self.model)

    @property
    def end_ids(self) -> frozenset[int]:
        """Tokens that end a reply."""
        config = self.model.generation_config
        listed = None if config is None else config.eos_token_id
        ends = listed if isinstance(listed, list) else [listed]
        return frozenset(
            end for end in (*ends, self.tokenizer.eos_token_id) if isinstance(end, int)
        )


def load(
    folder: Path, adapter: Path | None, dtype: Literal["bfloat16", "float32"], device: str
) -> Loaded:
    """A frozen model, and its tokenizer.

    Args:
        folder: with config.json and *.safetensors.
        adapter: a folder in PEFT's layout.
        dtype: of the weights; those of an adapter stay float32.
        device: cpu or cuda.

    Raises:
        ConfigError: the folder holds no causal model, or the adapter is for another base.
    """
    with LOADING:
        loaded = load_base(folder, dtype, device)
        if adapter is not None:
            put_in(loaded.model, folder, adapter)
    loaded.model.requires_grad_(False)
    return loaded


def load_base(
    folder: Path, dtype: Literal["bfloat16", "float32"], device: str, **options: Any
) -> Loaded:
    """A model without adapter, and its tokenizer.

    Args:
        folder: with config.json and *.safetensors.
        dtype: of the weights.
        device: cpu or cuda.
        options: more of `from_pretrained`: attn_implementation, quantization_config.

    Raises:
        ConfigError: the folder holds no causal model.
    """
    import torch
    from safetensors import SafetensorError
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    if not any(folder.glob(WEIGHTS)):
        raise ConfigError(f"llm.model={folder} holds no {WEIGHTS}; save the model in that form")
    logging.disable_progress_bar()
    kind = torch.bfloat16 if dtype == "bfloat16" else torch.float32
    try:
        with LOADING:
            model: PreTrainedModel = AutoModelForCausalLM.from_pretrained(
                folder, dtype=kind, local_files_only=True, **options
            )
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError, KeyError, ImportError, SafetensorError) as error:
        cause = " ".join(str(error).split())
        raise ConfigError(
            f"llm.model={folder} cannot be loaded as a causal model ({cause}); see its config.json"
        ) from error
    model = model.eval()
    if "quantization_config" not in options:  # which is where it belongs already
        model.to(torch.device(device))  # pyright: ignore[reportArgumentType] torch's stub lacks self
    return Loaded(model, tokenizer)


def context_of(model: PreTrainedModel) -> int | None:
    """The longest sequence in tokens; None where places are only told from one another (T5)."""
    config = model.config.get_text_config()
    own_name = config.attribute_map.get("max_position_embeddings", "max_position_embeddings")
    longest = config.to_dict().get(own_name)
    # T5 has such a number, but its places are relative
    if config.model_type in ("t5", "mt5", "umt5") or not isinstance(longest, int):
        return None
    return longest
