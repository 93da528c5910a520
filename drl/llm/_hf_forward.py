"""Runs a model over the tree of prompts: computes pending nodes, and steps growing rows.

The model gets all tokens of a step as one sequence [1, N] with explicit positions and no mask, so
nothing is padded; who sees what is up to `_hf_attention`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.utils.generic import ModelOutput

from drl.llm import _hf_attention
from drl.llm._hf_attention import (
    Own,
    Probe,
    Shared,
    Step,
    Stored,
    Stretch,
    UnsupportedModelError,
    join,
)
from drl.llm._hf_rows import Row, RowBuffers
from drl.llm._hf_tree import Node

WORTH_SHARING = 1024
"""Keys saved per step from which on reading a part once beats copying it into every row.

Measured with SmolLM2 on two cores: one more shared part costs about 2 ms a step, as does reading
1,000 keys from memory.
"""

PIECE = 2048
"""The longest stretch of one sequence that is computed at once."""

_MAX_TOKENS = 4096  # of a forward pass; bounds the memory of activations


class Forward:
    """A model that attends over shared prefixes.

    Args:
        model: takes its attention from transformers' registry; its setting is changed.

    Raises:
        UnsupportedModelError: its attention does something that this cannot stand in for.
    """

    def __init__(self, model: PreTrainedModel) -> None:
        self._model = model
        # without the layer that makes logits, the largest of small models
        self._body = model.base_model
        self.device = model.device
        _hf_attention.register()
        model.set_attn_implementation(_hf_attention.NAME)
        probe = Probe(slice(0, 1), {})
        self._run(self._body, [0], Step((probe,), (), self._range(0, 1)))
        layers = sorted(probe.shapes)
        shapes = set(probe.shapes.values())
        if layers != list(range(len(layers))) or len(shapes) != 1:
            raise UnsupportedModelError("its layers keep different things, or nothing")
        groups, key_size, value_size = shapes.pop()
        self.nothing = Stored(
            torch.empty((len(layers), groups, 0, key_size), dtype=model.dtype, device=self.device),
            torch.empty(
                (len(layers), groups, 0, value_size), dtype=model.dtype, device=self.device
            ),
            self._range(0, 0),
        )
        """No keys, of the model's shapes."""
        per_layer = groups * (key_size + value_size)
        self.bytes_per_token = len(layers) * per_layer * model.dtype.itemsize
        self.windows: set[int | None] = set()
        """The windows that layers have asked for."""

    def compute(self, nodes: Sequence[Node]) -> None:
        """Fill pending nodes, parents before children."""
        pending = [node for node in dict.fromkeys(nodes) if node.stored is None]
        while pending:
            ready = [node for node in pending if _can_compute(node)]
            for batch in _batches(ready):
                self._compute(batch)
            pending = [node for node in pending if node.stored is None]

    def step(self, buffers: RowBuffers) -> tuple[list[Row], Tensor]:
        """Read the next token of each row: the rows in order, and their logits [R, V]."""
        rows = buffers.ordered()
        readers: dict[int, tuple[Stored, list[int]]] = {}
        for place, row in enumerate(rows):
            for stored in row.shared:
                readers.setdefault(id(stored), (stored, []))[1].append(place)
        positions = torch.tensor([row.position for row in rows], device=self.device)
        step = Step(buffers.step(), self._shared(readers.values(), len(rows)), positions)
        output = self._run(self._model, [row.token for row in rows], step)
        for row in rows:
            row.used += 1
            row.position += 1
        return rows, output["logits"][0]

    def _compute(self, nodes: Sequence[Node]) -> None:
        tokens: list[int] = []
        own: list[Own] = []
        results: list[Stored] = []
        readers: dict[int, tuple[Stored, list[int]]] = {}
        for node in nodes:
            start, end = len(tokens), len(tokens) + len(node.tokens)
            tokens.extend(node.tokens)
            results.append(self._empty(node))
            own.append(Stretch(slice(start, end), results[-1]))
            shared, tail = parts_of(node.path()[:-1])
            for stored in (*shared, *tail):
                readers.setdefault(id(stored), (stored, []))[1].extend(range(start, end))
        positions = torch.cat([result.positions for result in results])
        step = Step(own, self._shared(readers.values(), len(tokens)), positions)
        self._run(self._body, tokens, step)
        for node, result in zip(nodes, results, strict=True):
            node.stored = result

    def _run(self, model: nn.Module, tokens: Sequence[int], step: Step) -> ModelOutput:
        with torch.inference_mode():
            output = model(
                input_ids=torch.tensor([tokens], device=self.device),
                position_ids=step.positions[None],
                use_cache=False,
                shared_prefix_step=step,
            )
        self.windows = step.windows
        return output

    def _shared(self, readers: Collection[tuple[Stored, list[int]]], number: int) -> list[Shared]:
        return [
            Shared(stored, None if len(seen) == number else self._tensor(seen))
            for stored, seen in readers
        ]

    def _empty(self, node: Node) -> Stored:
        length = len(node.tokens)
        layers, groups, _, key_size = self.nothing.keys.shape
        value_size = self.nothing.values.shape[-1]
        return Stored(
            self.nothing.keys.new_empty((layers, groups, length, key_size)),
            self.nothing.values.new_empty((layers, groups, length, value_size)),
            self._range(node.start, node.end),
        )

    def _range(self, start: int, end: int) -> Tensor:
        return torch.arange(start, end, device=self.device)

    def _tensor(self, numbers: Sequence[int]) -> Tensor:
        return torch.tensor(numbers, dtype=torch.long, device=self.device)


def parts_of(path: Sequence[Node]) -> tuple[list[Stored], list[Stored]]:
    """A path as parts that are read where they lie, and the rest joined: no part or one."""
    shared: list[Stored] = []
    rest: list[Stored] = []
    for node in path:
        assert node.stored is not None
        is_worth = (node.popularity - 1) * len(node.tokens) >= WORTH_SHARING
        (shared if is_worth else rest).append(node.stored)
    return shared, [join(rest)] if rest else []


def _can_compute(node: Node) -> bool:
    parent = node.parent
    assert parent is not None
    return parent.parent is None or parent.stored is not None


def _batches(nodes: Sequence[Node]) -> list[list[Node]]:
    """Nodes in groups of at most _MAX_TOKENS tokens; each node is at most PIECE long."""
    batches: list[list[Node]] = []
    size = _MAX_TOKENS
    for node in nodes:
        if size + len(node.tokens) > _MAX_TOKENS:
            batches.append([])
            size = 0
        batches[-1].append(node)
        size += len(node.tokens)
    return batches
