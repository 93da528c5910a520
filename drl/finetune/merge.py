"""An adapter and its base as one checkpoint that stands alone.

The sum is taken in float32. What is saved goes into a draft folder, is loaded again from there, and
takes the place asked for only if it answers as base and adapter do together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from drl.errors import DataError, RunError
from drl.llm.base import Weights
from drl.models.adapter import ADAPTER_CONFIG, ADAPTER_WEIGHTS, put_in
from drl.runtime.drafts import drafted_folder

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from drl.models.load import Loaded

DType = Literal["float32", "bfloat16"]

TOLERANCE: dict[DType, float] = {"float32": 1e-4, "bfloat16": 0.05}
"""How far a logit may move, as a share of the largest one: by rounding sums, and weights."""

_PROMPTS = (
    "The train to Cambridge leaves at",
    "User: I need a cheap hotel in the north of town, with parking.\nAgent:",
    "def total(prices):\n    return",
    '{"name": "book_table", "arguments": {"people": 4, "day": "',
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """What a merge gave.

    `logit_difference` is the largest one between the checkpoint and base with adapter, on every
    token of the prompts, calculated in float32; `tolerance` is what was allowed; `adapter_change`
    is the largest difference that the adapter makes to its base.
    """

    dtype: DType
    prompts: int
    logit_difference: float
    tolerance: float
    adapter_change: float


def merge(weights: Weights, out: Path, dtype: DType, *, force: bool) -> Merged:
    """Write a checkpoint of a base with its adapter, and hold it against them.

    Args:
        weights: with an adapter; their device does the sums, their dtype is not asked.
        out: the folder to write.
        dtype: of the numbers written.
        force: take the place of another checkpoint.

    Raises:
        ConfigError: base and adapter do not belong together, or cannot be loaded.
        DataError: the adapter cannot be read, or the checkpoint answers otherwise.
        RunError: `out` is taken, or cannot be written.
    """
    assert weights.adapter is not None, "the caller found it"
    check_adapter(weights.adapter)
    check_out(out, weights, force=force)
    try:
        with drafted_folder(out) as draft:
            merged = _merge_into(draft, weights, weights.adapter, dtype)
    except OSError as error:
        raise RunError(f"{out}: cannot be written ({error}); choose another --out") from error
    return merged


def check_adapter(folder: Path) -> None:
    """Refuse a folder that holds no adapter in safetensors.

    Raises:
        DataError: with what it lacks.
    """
    if not (folder / ADAPTER_CONFIG).is_file():
        raise DataError(
            f"{folder} has no {ADAPTER_CONFIG}, so its layers are unknown; name a folder as "
            "PEFT saves it"
        )
    if (folder / ADAPTER_WEIGHTS).is_file():
        return
    pickles = sorted(path.name for path in folder.glob("*.bin"))
    if pickles:
        raise DataError(
            f"{folder} holds its weights as {pickles[0]}, a pickle, which may run code when it is "
            "read; save it anew with safetensors"
        )
    raise DataError(f"{folder} has no {ADAPTER_WEIGHTS}; name a folder as PEFT saves it")


def check_out(out: Path, weights: Weights, *, force: bool) -> None:
    """Refuse a folder that holds anything, or with `force` anything but a checkpoint.

    Raises:
        RunError: with what is there.
    """
    sources = [folder.resolve() for folder in (weights.folder, weights.adapter) if folder]
    target = out.resolve()
    if any(source == target or target in source.parents for source in sources):
        raise RunError(f"--out {out} holds what is to be merged; choose another folder")
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    if not force:
        raise RunError(f"--out {out} is there already; choose another, or replace it with --force")
    is_checkpoint = (out / "config.json").is_file() and any(out.glob("*.safetensors"))
    if not is_checkpoint or any(path.is_dir() for path in out.iterdir()):
        raise RunError(
            f"--out {out} holds other things than a checkpoint, which --force would delete; "
            "choose another folder"
        )


@dataclass(frozen=True, slots=True)
class _Before:
    """Prompts as tokens, and the logits on them of the base alone and with its adapter."""

    prompts: Sequence[Sequence[int]]
    of_base: Sequence[Tensor]
    of_adapted: Sequence[Tensor]


def _merge_into(draft: Path, weights: Weights, adapter: Path, dtype: DType) -> Merged:
    before = _save(draft, weights, adapter, dtype)
    after = _logits(_load(draft, weights).model, before.prompts)
    difference = _largest(before.of_adapted, after)
    scale = max(float(logits.abs().max()) for logits in before.of_adapted)
    tolerance = TOLERANCE[dtype] * scale
    if not difference <= tolerance:  # nor if it is no number
        raise DataError(
            f"{adapter}: merged into {weights.folder}, it answers otherwise than put into it: "
            f"logits differ by up to {difference:.3g}, {tolerance:.3g} is allowed; "
            f"{'use --dtype float32' if dtype == 'bfloat16' else 'use it as llm.adapter'}"
        )
    return Merged(
        dtype=dtype,
        prompts=len(before.prompts),
        logit_difference=difference,
        tolerance=tolerance,
        adapter_change=_largest(before.of_base, before.of_adapted),
    )


def _save(draft: Path, weights: Weights, adapter: Path, dtype: DType) -> _Before:
    """Merge and save; the two models are gone from memory when it returns."""
    import torch

    loaded = _load(weights.folder, weights)
    prompts = [_ids(loaded.tokenizer, prompt) for prompt in _PROMPTS]
    of_base = _logits(loaded.model, prompts)
    adapted = put_in(loaded.model, weights.folder, adapter)
    of_adapted = _logits(loaded.model, prompts)
    try:
        merged = adapted.merge_and_unload(safe_merge=True)
    except ValueError as error:
        raise DataError(f"{adapter} cannot be merged ({error}); was its training sound?") from error
    if dtype == "bfloat16":
        merged.to(torch.bfloat16)
    merged.save_pretrained(draft)
    if weights.chat_template is not None:
        loaded.tokenizer.chat_template = weights.chat_template
    loaded.tokenizer.save_pretrained(draft)
    return _Before(prompts, of_base, of_adapted)


def _load(folder: Path, weights: Weights) -> Loaded:
    from drl.models.load import load

    return load(folder, None, "float32", weights.device)


def _ids(tokenizer: PreTrainedTokenizerBase, text: str) -> list[int]:
    ids = tokenizer(text)["input_ids"]
    assert isinstance(ids, list)
    return ids


def _logits(model: PreTrainedModel, prompts: Sequence[Sequence[int]]) -> list[Tensor]:
    """Of every token of each prompt, float32 `[L, V]` on the CPU."""
    import torch

    with torch.inference_mode():
        ids = [torch.tensor([prompt], device=model.device) for prompt in prompts]
        return [model(each).logits[0].float().cpu() for each in ids]


def _largest(some: Sequence[Tensor], others: Sequence[Tensor]) -> float:
    differences = [float((a - b).abs().max()) for a, b in zip(some, others, strict=True)]
    return max(differences) if all(d == d for d in differences) else float("nan")
