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
class Known:
    """What the files say; `longest` is what the model can take at all, None without a bound."""

    pooling: Pooling
    normalize: bool
    max_length: int
    longest: int | None


def known_of(folder: Path, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> Known:
    """How the encoder in a folder is meant to be used.

    Raises:
        ConfigError: its files name a pooling that is not known here.
    """
    bounds = [context_of(model), tokenizer.model_max_length]
    longest = min((bound for bound in bounds if bound and bound < _NO_BOUND), default=None)
    most = min(longest or _MOST, _MOST)
    if not (folder / "modules.json").is_file():
        return Known(_usual_pooling(model), False, most, longest)
    modules = _read(folder / "modules.json")
    paths = {str(each["type"]).rpartition(".")[2]: str(each["path"]) for each in modules}
    limits = folder / "sentence_bert_config.json"
    told = _read(limits)[0].get("max_seq_length") if limits.is_file() else None
    room = told if isinstance(told, int) else most
    pooling = _usual_pooling(model)
    if "Pooling" in paths:
        pooling = _told_pooling(folder / paths["Pooling"] / "config.json")
    return Known(pooling, "Normalize" in paths, min(room, longest or room), longest)


def _told_pooling(file: Path) -> Pooling:
    told = _read(file)[0]
    chosen: list[Pooling] = [pooling for mode, pooling in _MODES.items() if told.get(mode)]
    if len(chosen) != 1:
        raise ConfigError(
            f"encoder.pooling=auto: {file} does not name one of {', '.join(_MODES)} alone; choose "
            "encoder.pooling"
        )
    return chosen[0]


def _usual_pooling(model: PreTrainedModel) -> Pooling:
    if model.config.is_encoder_decoder:
        return "last_eos"
    return "last_token" if _is_causal(model) else "mean"


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
