"""`at_most`: what a first look at a run may take, whichever parts the run has.

    at_most: {dataset: {limit: 3}, trainer: {updates: 2}}

An experiment sets the size of its own parts; a first look at any of them cannot know which those
are. So it bounds settings where there are such, and says nothing of others.
"""

from __future__ import annotations

from collections.abc import Mapping

from drl.types import JSON

AT_MOST = "at_most"
"""The key of the bounds, at the root of a config; a run's own config has it no more."""


def bounded(settings: Mapping[str, JSON], most: Mapping[str, JSON]) -> dict[str, JSON]:
    """The settings with those lowered that exceed their bound.

    None means "all" and so exceeds any number; true exceeds false.
    """
    return {
        key: _bounded(value, most[key]) if key in most else value for key, value in settings.items()
    }


def _bounded(value: JSON, most: JSON) -> JSON:
    if isinstance(value, Mapping) and isinstance(most, Mapping):
        return bounded(value, most)
    if not isinstance(most, int | float):
        return value
    if value is None:
        return most
    return min(value, most) if isinstance(value, int | float) else value
