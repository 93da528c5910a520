"""A model made ready to be trained: frozen base, trainable adapter, tokenizer, template."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drl.errors import ConfigError, RunError
from drl.finetune.settings import FitSettings, LoraSettings
from drl.finetune.tokens import ChatTokens
from drl.llm.base import Weights
from drl.models.adapter import new_adapter, put_in
from drl.models.chat_template import ChatTemplate
from drl.models.load import load_base
from drl.runtime.drafts import drafted_folder

if TYPE_CHECKING:
    from peft import PeftModel
    from torch import Tensor
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


@dataclass(frozen=True, slots=True)
class Learner:
    """A model with one trainable adapter, `default`.

    `end_ids` end a reply at inference. `context` is None where it has no bound.
    """

    model: PeftModel
    tokenizer: PreTrainedTokenizerBase
    tokens: ChatTokens
    template: ChatTemplate
    end_ids: frozenset[int]
    context: int | None

    @property
    def base(self) -> PreTrainedModel:
        """The model that the adapter is in, without PEFT's wrapper."""
        from transformers import PreTrainedModel

        model = self.model.get_base_model()
        assert isinstance(model, PreTrainedModel), "load_learner wrapped one"
        return model

    def snapshot(self) -> dict[str, Tensor]:
        """Copies of the weights that learn."""
        return {name: weight.detach().clone() for name, weight in self._learning()}

    def change_since(self, before: Mapping[str, Tensor]) -> float:
        """The largest change of a weight since a snapshot; 0 if the adapter is what it was."""
        return max(float((w.detach() - before[name]).abs().max()) for name, w in self._learning())

    def _learning(self) -> list[tuple[str, Tensor]]:
        named = self.model.named_parameters()
        return [(name, weight) for name, weight in named if weight.requires_grad]

    def save(self, folder: Path, whole: Mapping[str, Tensor] | None) -> None:
        """Write the adapter in PEFT's layout, as safetensors; the folder appears whole.

        Args:
            folder: its place.
            whole: all weights by name, where no process holds the whole model; else None.

        Raises:
            RunError: it cannot be written.
        """
        try:
            with drafted_folder(folder) as draft:
                self.model.save_pretrained(
                    str(draft),
                    selected_adapters=["default"],
                    state_dict=None if whole is None else dict(whole),
                )
        except OSError as error:
            raise RunError(
                f"{folder}: cannot be written ({error.strerror}); make room and start the same "
                "command again"
            ) from error


def check_machine(weights: Weights, lora: LoraSettings, fit: FitSettings) -> None:
    """Refuse what this machine cannot do, before any work is done.

    Raises:
        ConfigError: a GPU or a package is missing, or there is no such optimiser.
    """
    from transformers import Trainer, TrainingArguments
    from transformers.utils.import_utils import (
        is_bitsandbytes_available,
        is_flash_attn_2_available,
    )

    has_gpu = weights.device == "cuda"
    if lora.quantize is not None and not (has_gpu and is_bitsandbytes_available()):
        raise ConfigError(
            f"trainer.lora.quantize={lora.quantize} needs a GPU and the package bitsandbytes; set "
            "it to null, or run pip install bitsandbytes on a machine with CUDA"
        )
    if fit.attention == "flash_attention_2" and not (has_gpu and is_flash_attn_2_available()):
        raise ConfigError(
            "trainer.fit.attention=flash_attention_2 needs a GPU and the package flash-attn; use "
            "sdpa, or run pip install flash-attn on a machine with CUDA"
        )
    try:
        arguments = TrainingArguments(optim=fit.optimizer, use_cpu=not has_gpu, report_to=[])
        Trainer.get_optimizer_cls_and_kwargs(arguments)
    except (ValueError, ImportError) as error:
        raise ConfigError(
            f"trainer.fit.optimizer={fit.optimizer} cannot be used here "
            f"({' '.join(str(error).split())[:300]}); use adamw_torch"
        ) from error


def load_learner(weights: Weights, lora: LoraSettings, attention: str, seed: int) -> Learner:
    """The model of `weights`, with its adapter to be trained on or else one that the seed draws.

    Raises:
        ConfigError: the files are no causal model, or the adapter does not fit.
    """
    options: dict[str, Any] = {"attn_implementation": attention}
    if lora.quantize is not None:
        options["quantization_config"] = _four_bits()
    loaded = load_base(weights.folder, weights.dtype, weights.device, **options)
    if weights.adapter is None:
        model = _drawn(loaded.model, lora, seed)
    else:
        model = put_in(loaded.model, weights.folder, weights.adapter, is_trainable=True)
    _check_output_layer(model)
    template = ChatTemplate(loaded.tokenizer, weights.chat_template)
    return Learner(
        model=model,
        tokenizer=loaded.tokenizer,
        tokens=ChatTokens(template, loaded.end_ids),
        template=template,
        end_ids=loaded.end_ids,
        context=loaded.context,
    )


def _drawn(base: PreTrainedModel, lora: LoraSettings, seed: int) -> PeftModel:
    """A new adapter; PEFT draws it from torch's own generator, which is left as it was."""
    import torch

    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return new_adapter(
            base, rank=lora.rank, alpha=lora.alpha, dropout=lora.dropout, modules=lora.modules
        )


def _check_output_layer(model: PeftModel) -> None:
    """TRL multiplies by the output layer's weights itself, and would pass an adapter by."""
    from peft.tuners.tuners_utils import BaseTunerLayer

    if isinstance(model.get_output_embeddings(), BaseTunerLayer):
        raise ConfigError(
            "trainer.lora.modules or llm.adapter change the output layer, which TRL cannot train; "
            "use all-linear, which leaves it out"
        )


def _four_bits() -> object:
    """NF4 with double quantisation, computing in bfloat16."""
    import torch
    from transformers import BitsAndBytesConfig

    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=torch.bfloat16,
    )
