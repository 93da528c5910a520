"""What a run may spend on model calls, and whether answers are kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from drl.errors import ConfigError

PRICE_KEYS = {"input", "cached_input", "output"}


@dataclass(frozen=True, kw_only=True)
class CallSettings:
    """The `calls` node of the config; none of it makes another run.

    `budget_usd` and `budget_tokens` stop the run before its calls pass them; null is no limit.
    `cache` keeps every answer, so that none is asked (and paid) for twice. `prices` adds to
    `prices.yaml`: model -> input, cached_input, output in dollars per million tokens.
    """

    budget_usd: float | None
    budget_tokens: int | None
    cache: bool
    prices: Mapping[str, Mapping[str, float]]

    def __post_init__(self) -> None:
        """Check the settings."""
        for name, limit in (
            ("budget_usd", self.budget_usd),
            ("budget_tokens", self.budget_tokens),
        ):
            if limit is not None and not limit > 0:
                raise ConfigError(f"calls.{name}={limit} must be positive; use null for no limit")
        for model, price in self.prices.items():
            if not {"input", "output"} <= price.keys() <= PRICE_KEYS or min(price.values()) < 0:
                raise ConfigError(
                    f"calls.prices.{model}={dict(price)} must give input and output (and may give "
                    "cached_input) in dollars per million tokens, none of them negative"
                )
