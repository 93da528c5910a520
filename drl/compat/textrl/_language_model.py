"""What TextRL 0.2's classes need to know of a model: that it writes, how far, and what is in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drl.errors import ConfigError

if TYPE_CHECKING:
    from peft import PeftModel
    from torch import nn
    from transformers import PreTrainedModel


def unwrapped(model: nn.Module) -> PreTrainedModel:
    """The language model itself, with PEFT's layers in it where it was wrapped by PEFT.

    Raises:
        ConfigError: it is no model of transformers, or cannot write.
    """
    from transformers import PreTrainedModel

    adapted = adapted_by_peft(model)
    plain = model if adapted is None else adapted.get_base_model()
    if not isinstance(plain, PreTrainedModel):
        raise ConfigError(
            f"model is a {type(model).__name__}; give one of transformers, say "
            "AutoModelForCausalLM.from_pretrained(...)"
        )
    if plain.get_output_embeddings() is None or not plain.can_generate():
        raise ConfigError(
            f"{type(plain).__name__} ({plain.name_or_path}) has no language-model head that it "
            "could write with; load it with AutoModelForCausalLM or AutoModelForSeq2SeqLM"
        )
    return plain


def adapted_by_peft(model: nn.Module) -> PeftModel | None:
    """The model, if PEFT has wrapped it."""
    from peft import PeftModel

    return model if isinstance(model, PeftModel) else None


def vocabulary_of(model: PreTrainedModel) -> int:
    """How many tokens the model knows, padding of its matrices included."""
    return model.config.get_text_config().vocab_size
