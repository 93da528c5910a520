"""A model made ready to be trained: frozen base, trainable adapter, tokenizer, template."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drl.errors import ConfigError
from drl.finetune.settings import LoraSettings
from drl.finetune.tokens import ChatTokens
from drl.llm.base import Weights
from drl.models.adapter import new_adapter, put_in
from drl.models.chat_template import ChatTemplate
from drl.models.load import load_base

if TYPE_CHECKING:
    from peft import PeftModel
    from transformers import PreTrainedTokenizerBase


@dataclass(frozen=True, slots=True)
class Learner:
    """A model with one trainable adapter.

    `is_fresh` says that the adapter changes nothing yet; else it is the one that training goes on
    from.
    """

    model: PeftModel
    tokenizer: PreTrainedTokenizerBase
    tokens: ChatTokens
    template: ChatTemplate
    context: int | None
    is_fresh: bool

    def save(self, folder: Path) -> None:
        """Write the adapter in PEFT's layout, as safetensors."""
        self.model.save_pretrained(str(folder), selected_adapters=["default"])


def load_learner(weights: Weights, lora: LoraSettings, attention: str) -> Learner:
    """The model of `weights`, with its adapter to be trained on or else a new one.

    Raises:
        ConfigError: the files are no causal model, the adapter does not fit, or what is wanted
            needs a GPU that is not there.
    """
    options: dict[str, Any] = {"attn_implementation": attention}
    if lora.quantize is not None:
        options["quantization_config"] = _four_bits(weights)
    elif attention == "flash_attention_2" and weights.device != "cuda":
        raise ConfigError(
            "trainer.fit.attention=flash_attention_2 needs a GPU, but llm.device is "
            f"{weights.device}; use sdpa"
        )
    loaded = load_base(weights.folder, weights.dtype, weights.device, **options)
    if weights.adapter is None:
        model = new_adapter(
            loaded.model,
            rank=lora.rank,
            alpha=lora.alpha,
            dropout=lora.dropout,
            modules=lora.modules,
        )
    else:
        model = put_in(loaded.model, weights.folder, weights.adapter, is_trainable=True)
    template = ChatTemplate(loaded.tokenizer, weights.chat_template)
    return Learner(
        model=model,
        tokenizer=loaded.tokenizer,
        tokens=ChatTokens(template, loaded.end_ids),
        template=template,
        context=loaded.context,
        is_fresh=weights.adapter is None,
    )


def _four_bits(weights: Weights) -> object:
    """NF4 with double quantisation, computing in bfloat16."""
    import torch
    from transformers import BitsAndBytesConfig
    from transformers.utils.import_utils import is_bitsandbytes_available

    if weights.device != "cuda" or not is_bitsandbytes_available():
        raise ConfigError(
            "trainer.lora.quantize=4bit needs a GPU and the package bitsandbytes; set it to null, "
            "or run pip install bitsandbytes on a machine with CUDA"
        )
    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=torch.bfloat16,
    )
