"""What tokens cost: from `prices.yaml`, which carries its date and source, and from the config."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

import yaml

from drl.llm.base import LLM, Usage


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars per million tokens; prompt tokens that the server had cached may be cheaper."""

    input: float
    cached_input: float
    output: float

    def of(self, usage: Usage) -> float:
        """Dollars for a request."""
        fresh = usage.tokens_in - usage.tokens_cached
        dollars = fresh * self.input + usage.tokens_cached * self.cached_input
        return (dollars + usage.tokens_out * self.output) / 1e6


FREE = Price(0.0, 0.0, 0.0)


def price_of(llm: LLM, more: Mapping[str, Mapping[str, float]]) -> Price | None:
    """The price of a model; None if nobody has said, which is not 0.

    Args:
        llm: a model that runs in this process costs nothing but time.
        more: prices that the config adds, by model; they come before the listed ones.
    """
    if llm.in_process:
        return FREE
    listed = more.get(llm.model) or _listed().get(llm.model)
    if listed is None:
        return None
    return Price(listed["input"], listed.get("cached_input", listed["input"]), listed["output"])


@cache
def _listed() -> Mapping[str, Mapping[str, float]]:
    text = (resources.files("drl.calls") / "prices.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)["prices"]
