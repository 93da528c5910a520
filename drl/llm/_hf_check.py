"""Whether prefixes can be shared in a model: found out by trying, not by a list of names.

Where they cannot (recurrent state, attention that the registry does not reach), `_hf_plain` runs
the model instead: right, but slower, and nothing is reused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from weakref import WeakSet

import torch
from torch import Tensor
from transformers import PreTrainedConfig, PreTrainedModel

from drl.llm._hf_attention import UnsupportedModelError
from drl.llm._hf_forward import Forward, parts_of
from drl.llm._hf_rows import Row, RowBuffers
from drl.llm._hf_tree import PrefixTree
from drl.models.probe import probe_ids

_KNOWN_LAYERS = {"full_attention", "sliding_attention"}
_LENGTH_BOUND_ROPE = {"dynamic", "longrope"}
"""Their angles depend on the longest sequence in the batch, so keys cannot outlive it."""

_PROVEN: WeakSet[PreTrainedModel] = WeakSet()
"""Models that have passed: one that is trained and opened again still does."""

_LENGTH = 24
_PROMPT = 15
_FORK = 7


def sharing_forward(model: PreTrainedModel) -> Forward:
    """The model with attention over shared prefixes, once it has given the same logits as before.

    Raises:
        UnsupportedModelError: it cannot; the model is as it was.
    """
    own_attention = model.config._attn_implementation or "eager"
    try:
        forward = Forward(model) if model in _PROVEN else _proven_forward(model)
    except (TypeError, AttributeError, ValueError, RuntimeError) as error:
        # what a model raises that does not take these inputs
        model.set_attn_implementation(own_attention)
        raise UnsupportedModelError(f"{type(error).__name__}: {error}") from error
    except UnsupportedModelError:
        model.set_attn_implementation(own_attention)
        raise
    _PROVEN.add(model)
    return forward


def _proven_forward(model: PreTrainedModel) -> Forward:
    _check_config(model.config.get_text_config())
    first, second = _tokens(model)
    wanted = torch.cat([_plain_logits(model, tokens) for tokens in (first, second)])
    forward = Forward(model)
    found = _shared_logits(forward, first, second)
    _check_windows(model.config.get_text_config(), forward)
    _compare(wanted, found)
    return forward


def _check_config(config: PreTrainedConfig) -> None:
    settings = config.to_dict()
    other = set(settings.get("layer_types") or ()) - _KNOWN_LAYERS
    if other:
        raise UnsupportedModelError(f"it has layers of kind {', '.join(sorted(other))}")
    bound = set(_rope_types(settings.get("rope_parameters"))) & _LENGTH_BOUND_ROPE
    if bound:
        raise UnsupportedModelError(f"its positions are {bound.pop()}, which depend on the length")


def _rope_types(parameters: object) -> Iterator[str]:
    if isinstance(parameters, Mapping):
        for key, value in parameters.items():
            if key == "rope_type":
                yield str(value)
            yield from _rope_types(value)


def _check_windows(config: PreTrainedConfig, forward: Forward) -> None:
    """A window that the model keeps to by a mask alone would be lost."""
    settings = config.to_dict()
    layers = settings.get("layer_types")
    window = settings.get("sliding_window")
    slides = window is not None if layers is None else "sliding_attention" in layers
    if slides and window not in forward.windows:
        raise UnsupportedModelError("its layers do not say how far back they see")


def _tokens(model: PreTrainedModel) -> tuple[list[int], list[int]]:
    """Two sequences that part in the middle of their prompts."""
    size = model.config.get_text_config().vocab_size
    first = probe_ids(size, _LENGTH)
    second = [(53 * place + 29) % size for place in range(_LENGTH)]
    return first, first[:_FORK] + second[_FORK:]


def _plain_logits(model: PreTrainedModel, tokens: list[int]) -> Tensor:
    with torch.inference_mode():
        output = model(input_ids=torch.tensor([tokens], device=model.device), use_cache=False)
    return output.logits[0, _PROMPT:]


def _shared_logits(forward: Forward, first: list[int], second: list[int]) -> Tensor:
    """Logits of both from a common beginning, computed prompts, and one token at a time."""
    tree = PrefixTree(capacity=_LENGTH * 2, piece=_LENGTH)
    leaves = [tree.open(tuple(tokens[:_PROMPT]), 1)[0] for tokens in (first, second)]
    forward.compute([node for leaf in leaves for node in leaf.path()])
    rows: list[Row] = []
    buffers = RowBuffers(forward.nothing)
    for leaf in leaves:
        shared, (tail,) = parts_of(leaf.path())
        rows.append(Row(shared, token=0, position=_PROMPT, tail=_PROMPT, used=_PROMPT))
        buffers.put(rows[-1], tail)
    logits: dict[Row, list[Tensor]] = {row: [] for row in rows}
    for place in range(_PROMPT, _LENGTH):
        for row, tokens in zip(rows, (first, second), strict=True):
            row.token = tokens[place]
        for row, found in zip(*forward.step(buffers), strict=True):
            logits[row].append(found)
    return torch.stack([one for row in rows for one in logits[row]])


def _compare(wanted: Tensor, found: Tensor) -> None:
    """Equal but for rounding: what is wrong in kind is off by as much as the logits vary."""
    tolerance = 1e-3 if wanted.dtype == torch.float32 else 0.1
    spread = (wanted.float() - wanted.float().mean(dim=-1, keepdim=True)).norm()
    off = (wanted.float() - found.float()).norm()
    if not off <= tolerance * spread:
        raise UnsupportedModelError(f"its logits come out {off / spread:.2g} off")
