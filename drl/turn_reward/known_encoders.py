"""How an encoder is meant to be used, read from its files: pooling, scaling, and how much it reads.

sentence-transformers writes it down. Of others the kind decides: encoder-decoders, BART among them,
are read at the last end-of-sequence token, as GELI does; decoders at the last token; encoders by
the mean.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from drl.errors import ConfigError
from drl.models.load import context_of
from drl.turn_reward.pooling import Pooling
from drl.types import JSON

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

_MOST = 1024
"""Tokens of a text where the files name no number: what GELI reads (arXiv:2403.11330)."""

_NO_BOUND = 1 << 24
"""From here on a tokenizer's longest text means that it knows none."""

_MODES: Mapping[str, Pooling] = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "cls",
    "pooling_mode_lasttoken": "last_token",
}


@dataclass(frozen=True, slots=True)
class Usage:
    """What the files say but for pooling; `longest` is what the model can take, None: any."""

    normalize: bool
    max_length: int
    longest: int | None


def known_usage(folder: Path, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> Usage:
    """How the encoder in a folder is meant to be used.

    Raises:
        ConfigError: its files cannot be read.
    """
    bounds = [context_of(model), tokenizer.model_max_length]
    longest = min((bound for bound in bounds if bound and bound < _NO_BOUND), default=None)
    room = min(longest or _MOST, _MOST)
    limits = folder / "sentence_bert_config.json"
    told = _read(limits)[0].get("max_seq_length") if limits.is_file() else None
    if isinstance(told, int):
        room = min(told, longest or told)
    return Usage("Normalize" in _modules(folder), room, longest)


def known_pooling(folder: Path, model: PreTrainedModel) -> Pooling:
    """Which hidden states are meant to be the embedding.

    Raises:
        ConfigError: the files name something that is not known here, or cannot be read.
    """
    path = _modules(folder).get("Pooling")
    if path is not None:
        return _told_pooling(folder / path / "config.json")
    if model.config.is_encoder_decoder:
        return "last_eos"
    return "last_token" if _is_causal(model) else "mean"


def _modules(folder: Path) -> Mapping[str, str]:
    """The parts that sentence-transformers made the encoder of, and where their settings lie."""
    file = folder / "modules.json"
    listed = _read(file) if file.is_file() else []
    return {str(each["type"]).rpartition(".")[2]: str(each["path"]) for each in listed}


def _told_pooling(file: Path) -> Pooling:
    told = _read(file)[0]
    chosen: list[Pooling] = [pooling for mode, pooling in _MODES.items() if told.get(mode)]
    if len(chosen) != 1:
        raise ConfigError(
            f"encoder.pooling=auto: {file} does not name one of {', '.join(_MODES)} alone; choose "
            "encoder.pooling"
        )
    return chosen[0]


def _is_causal(model: PreTrainedModel) -> bool:
    """Whether its kind only ever looks back; BERT's kind also learns to fill gaps."""
    from transformers.models.auto.modeling_auto import (
        MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
        MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    )

    kind = model.config.model_type
    return (
        kind in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES and kind not in MODEL_FOR_MASKED_LM_MAPPING_NAMES
    )


def _read(file: Path) -> Sequence[Mapping[str, JSON]]:
    """The object of a JSON file, or the objects of a list in it."""
    try:
        told = json.loads(file.read_text(encoding="utf-8"))
        return [dict(each) for each in (told if isinstance(told, list) else [told])]
    except (OSError, ValueError, TypeError) as error:
        raise ConfigError(f"encoder.model: {file} cannot be read ({error}); mend it") from error
