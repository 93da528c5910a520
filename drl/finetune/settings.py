"""How a model is trained: what of its rows, which of its weights, and with what optimiser."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from drl.errors import ConfigError
from drl.ops.learning_rates import Schedule
from drl.runtime.settings import check_above_zero, check_not_negative, check_positive


@dataclass(frozen=True, kw_only=True)
class DataSettings:
    """Which rows are learned from.

    `max_rows` and `max_tokens` (tokens of all sequences of one epoch, prompts included) end a draw
    by seed. A sequence longer than `max_length` tokens is dropped and counted, or, where it is a
    dialogue, `cut` at the end of the last output that fits.
    """

    max_rows: int | None
    max_tokens: int | None
    max_length: int
    too_long: Literal["drop", "cut"]

    def __post_init__(self) -> None:
        """Check the settings."""
        for name, value in (("max_rows", self.max_rows), ("max_tokens", self.max_tokens)):
            if value is not None:
                check_positive("trainer.data", **{name: value})
        check_positive("trainer.data", max_length=self.max_length)


@dataclass(frozen=True, kw_only=True)
class LoraSettings:
    """Low-rank updates (arXiv:2106.09685) of `modules`; all-linear leaves out the output layer.

    `dropout` is for SFT; TRL trains without any where likelihoods are held against a reference.
    With `quantize` the base is held in NF4 with double quantisation (arXiv:2305.14314), on CUDA.
    """

    rank: int
    alpha: int
    dropout: float
    modules: str | list[str]
    quantize: Literal["4bit"] | None

    def __post_init__(self) -> None:
        """Check the settings."""
        check_positive("trainer.lora", rank=self.rank, alpha=self.alpha)
        if not 0.0 <= self.dropout < 1.0:
            raise ConfigError(
                f"trainer.lora.dropout={self.dropout} must lie in [0, 1); 0 leaves it out"
            )


@dataclass(frozen=True, kw_only=True)
class FitSettings:
    """One optimisation. An update takes `batch_size` x `accumulation` rows on every device.

    `warmup` counts updates, or below 1 is their share; the k-th of n has k/n of the learning rate.
    `max_updates` ends it early. Every `save_every` updates the state is stored from which a killed
    run goes on.
    """

    epochs: float
    max_updates: int | None
    batch_size: int
    accumulation: int
    learning_rate: float
    schedule: Schedule
    warmup: float
    weight_decay: float
    max_grad_norm: float
    optimizer: str
    attention: Literal["eager", "sdpa", "flash_attention_2"]
    activation_checkpointing: bool
    log_every: int
    save_every: int

    def __post_init__(self) -> None:
        """Check the settings."""
        check_positive(
            "trainer.fit",
            batch_size=self.batch_size,
            accumulation=self.accumulation,
            log_every=self.log_every,
            save_every=self.save_every,
        )
        if self.max_updates is not None:
            check_positive("trainer.fit", max_updates=self.max_updates)
        check_above_zero(
            "trainer.fit",
            epochs=self.epochs,
            learning_rate=self.learning_rate,
            max_grad_norm=self.max_grad_norm,
        )
        check_not_negative(
            "trainer.fit",
            warmup=self.warmup,
            weight_decay=self.weight_decay,
        )
