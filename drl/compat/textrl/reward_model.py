"""TextRL 1.0's trainer of reward models: of two texts, the better is to score higher."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drl.compat.textrl._trainer import TRLTrainer, check_algorithm, checked
from drl.compat.textrl.config import TextRLConfig
from drl.compat.textrl.data import validate_reward_model_dataset
from drl.compat.textrl.models import load_model
from drl.errors import ConfigError

if TYPE_CHECKING:
    from datasets import Dataset
    from peft import PeftModel
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


class RewardModelTrainer(TRLTrainer):
    """Trains a classifier with one score on pairs; the result is a reward for `OnlineTrainer`.

    Args:
        model: such a classifier, as `load_model(..., reward_model=True)` gives it, or the name of
            a model to put a new score on. A causal model is refused: it scores tokens.
        tokenizer: its own.
        config: with algo reward_model.
        train_dataset: with chosen and rejected, and maybe prompt.
        eval_dataset: of the same form.

    Raises:
        ConfigError: the parts do not fit together.
        DataError: a row is not as it should be.
    """

    def __init__(
        self,
        model: PreTrainedModel | PeftModel | str,
        tokenizer: PreTrainedTokenizerBase,
        config: TextRLConfig,
        *,
        train_dataset: Dataset | None = None,
        eval_dataset: Dataset | None = None,
    ) -> None:
        check_algorithm(config, ("reward_model",), "RewardModelTrainer")
        data = checked(train_dataset, eval_dataset, validate_reward_model_dataset)
        if isinstance(model, str):
            model = load_model(model, reward_model=True, seed=config.seed).policy
        _check_classifier(model)
        parts: dict[str, Any] = {
            "model": model,
            "args": config.to_trl_config(),
            "processing_class": tokenizer,
            **data,
        }
        from drl.compat.textrl._silent import SilentRewardTrainer

        super().__init__(SilentRewardTrainer(**parts))


def _check_classifier(model: PreTrainedModel | PeftModel) -> None:
    if model.get_output_embeddings() is not None:
        raise ConfigError(
            f"algo=reward_model: a {type(model).__name__} scores tokens, not texts; load it with "
            "load_model(..., reward_model=True), or give its name"
        )
    if model.config.num_labels != 1:
        raise ConfigError(
            f"algo=reward_model: the model has {model.config.num_labels} scores, a reward model "
            "has one; load it with load_model(..., reward_model=True)"
        )
