"""TextRL 1.0's trainer on preferences: pairs by DPO and the losses near it, labels by KTO."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drl.compat.textrl._trainer import TRLTrainer, check_algorithm, checked
from drl.compat.textrl.config import DPO_LOSSES, TextRLConfig
from drl.compat.textrl.data import validate_kto_dataset, validate_preference_dataset
from drl.compat.textrl.models import (
    check_decoder_only,
    frozen_copy,
    is_adapted,
    refuse_reference,
)
from drl.errors import ConfigError

if TYPE_CHECKING:
    from datasets import Dataset
    from peft import PeftModel
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


class PreferenceTrainer(TRLTrainer):
    """Makes what was preferred likelier than what was not, compared with a reference.

    The reference is `ref_model`, else a copy of the model as it is given; with an adapter it is
    the model as it starts.

    Args:
        model: a causal model.
        tokenizer: its own.
        config: with the algo of a loss on pairs, or kto.
        ref_model: a frozen model of the same vocabulary.
        train_dataset: with prompt, chosen and rejected, where the prompt may be what the two begin
            with together; for kto with prompt, completion and label.
        eval_dataset: of the same form.

    Raises:
        ConfigError: the parts do not fit together.
        DataError: a row is not as it should be.
    """

    def __init__(
        self,
        model: PreTrainedModel | PeftModel,
        tokenizer: PreTrainedTokenizerBase,
        config: TextRLConfig,
        *,
        ref_model: PreTrainedModel | None = None,
        train_dataset: Dataset | None = None,
        eval_dataset: Dataset | None = None,
    ) -> None:
        check_algorithm(config, (*DPO_LOSSES, "kto"), "PreferenceTrainer")
        check_decoder_only(model, f"algo={config.algo}")
        is_kto = config.algo == "kto"
        if is_kto and config.per_device_train_batch_size < 2:
            raise ConfigError(
                "per_device_train_batch_size=1 is too few for algo=kto, which puts the completion "
                "of one row after the prompt of another of its batch; use 2 or more"
            )
        check = validate_kto_dataset if is_kto else validate_preference_dataset
        data = checked(train_dataset, eval_dataset, check)
        refuse_reference(model, ref_model)
        if ref_model is None and not is_adapted(model):
            ref_model = frozen_copy(model)
        parts: dict[str, Any] = {
            "model": model,
            "ref_model": ref_model,
            "args": config.to_trl_config(),
            "processing_class": tokenizer,
            **data,
        }
        from drl.compat.textrl._silent import SilentDPOTrainer, SilentKTOTrainer

        super().__init__(SilentKTOTrainer(**parts) if is_kto else SilentDPOTrainer(**parts))
