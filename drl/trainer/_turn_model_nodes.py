"""The turn reward models within a reward's config node, which may combine several rewards."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from drl.runtime.config import plug_in_of
from drl.types import JSON


def with_model(node: JSON, model: Path, unit: float) -> JSON:
    """A reward's node in which every turn_model has this model, and its scale counts in units."""
    if not isinstance(node, Mapping):
        return node
    if _is_turn_model(node):
        scale = node["scale"]
        assert isinstance(scale, int | float), "launch checked it"
        return {**node, "model": str(model), "scale": scale / unit}
    return {key: with_model(value, model, unit) for key, value in node.items()}


def turn_models(node: JSON) -> list[Mapping[str, JSON]]:
    """The turn_model nodes within a reward's node."""
    if not isinstance(node, Mapping):
        return []
    if _is_turn_model(node):
        return [node]
    return [found for value in node.values() for found in turn_models(value)]


def _is_turn_model(node: JSON) -> bool:
    """Whether it is the node of a reward by a turn reward model."""
    return isinstance(node, Mapping) and "_target_" in node and plug_in_of(node) == "turn_model"
