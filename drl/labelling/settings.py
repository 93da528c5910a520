"""How a language model is asked which turns made a session's score.

Errors name settings as they are called here; `drl.runtime.config` puts the place in a config before
them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from drl.errors import ConfigError
from drl.llm.base import Sampling
from drl.runtime.settings import check_above_zero, check_not_negative, check_positive


@dataclass(frozen=True, kw_only=True)
class LabelSettings:
    """One judge, asked `samples` times about each session.

    `cues`: shows what was seen and heard of the listener, each time in another order.
    `question`: in words; None takes those that are known for the dataset's target.
    `window` turns are shown at once, of which `overlap` were shown before; marks of those are
    averaged. `retries`: how often a faulty reply is asked for again. `rule`, `spread` and
    `sharpness` are explained in `drl.labelling.scale`. `concurrency`: sessions in work at once.
    """

    cues: bool
    question: str | None
    samples: int
    temperature: float
    max_tokens: int
    window: int
    overlap: int
    retries: int
    rule: Literal["affine", "softmax"]
    spread: float
    sharpness: float
    concurrency: int

    def __post_init__(self) -> None:
        """Check the settings against each other."""
        check_positive(
            None,
            samples=self.samples,
            max_tokens=self.max_tokens,
            window=self.window,
            concurrency=self.concurrency,
        )
        check_not_negative(None, overlap=self.overlap, retries=self.retries)
        check_above_zero(None, spread=self.spread, sharpness=self.sharpness)
        if not 0.0 <= self.temperature <= 2.0:
            raise ConfigError(
                f"temperature={self.temperature} must lie in [0, 2]; 0 repeats itself"
            )
        if self.overlap >= self.window:
            raise ConfigError(
                f"overlap={self.overlap} leaves a window of {self.window} turns nothing new; "
                "lower it"
            )
        if self.samples > 1 and self.temperature == 0 and not self.cues:
            raise ConfigError(
                f"samples={self.samples} would all be alike at temperature=0; raise it, or ask once"
            )
        if self.question is not None and not self.question.strip():
            raise ConfigError("question='' asks nothing; use null for the known words")

    @property
    def sampling(self) -> Sampling:
        """How replies are drawn."""
        return Sampling(temperature=self.temperature, max_tokens=self.max_tokens)
