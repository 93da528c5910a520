"""What all trainers of TextRL 1.0 share: one of TRL's inside, and what is done with it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from drl.compat.textrl.config import TextRLConfig
from drl.errors import ConfigError

if TYPE_CHECKING:
    from datasets import Dataset
    from transformers import Trainer
    from transformers.trainer_utils import TrainOutput

Check = Callable[["Dataset"], "Dataset"]


class TRLTrainer:
    """A trainer of TRL, whole from the start: what is wrong with data or settings is said then."""

    def __init__(self, trainer: Trainer) -> None:
        self._trainer = trainer

    @property
    def trl_trainer(self) -> Trainer:
        """TRL's trainer itself."""
        return self._trainer

    def train(self, **kwargs: Any) -> TrainOutput:
        """Train to the end; takes what `transformers.Trainer.train` takes."""
        with warnings.catch_warnings():
            # TRL 1.16 switches checkpoints of activations by the name they had before
            warnings.filterwarnings(
                "ignore", "`(is_)?gradient_checkpointing(_en|_dis)?", FutureWarning
            )
            return self._trainer.train(**kwargs)

    def save_model(self, output_dir: str | os.PathLike[str] | None = None) -> None:
        """Write model and tokenizer, or the adapter, to a folder; `output_dir` of the config."""
        self._trainer.save_model(None if output_dir is None else str(output_dir))

    def push_to_hub(self, **kwargs: Any) -> str:
        """Upload the model to the hub; takes what `transformers.Trainer.push_to_hub` takes."""
        return str(self._trainer.push_to_hub(**kwargs))


def check_algorithm(config: TextRLConfig, algorithms: tuple[str, ...], trainer: str) -> None:
    """Refuse an algorithm of another trainer.

    Raises:
        ConfigError: with those of this one.
    """
    if config.algo not in algorithms:
        raise ConfigError(
            f"algo={config.algo} is not for {trainer}, which knows {', '.join(algorithms)}"
        )


def checked(train: Dataset | None, evaluation: Dataset | None, check: Check) -> dict[str, Any]:
    """Both datasets for TRL's trainer, in the form it trains on.

    Raises:
        ConfigError: there is none to train on.
        DataError: a row is not as it should be.
    """
    if train is None:
        raise ConfigError("train_dataset is missing; name what to train on")
    return {
        "train_dataset": check(train),
        "eval_dataset": None if evaluation is None else check(evaluation),
    }
