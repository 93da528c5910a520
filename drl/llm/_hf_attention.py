"""Attention of many sequences over keys that some of them share, in one flat row of tokens.

A forward pass is a `Step`: the new tokens of all its sequences side by side as one row [1, N].
Each token belongs to one *own* part, which holds the keys that only its sequence has, and may see
*shared* parts, each read once for all tokens that see it. The parts' results are joined exactly,
by the log of each part's softmax denominator.

transformers calls `attend` in place of its own attention, so this serves every architecture that
takes its attention from the registry; `_hf_check` finds out whether a model really does.

Axes: Y layers, N tokens of a step, H query heads, G key heads, S keys, D head size, R rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from transformers import AttentionInterface

from drl.llm._hf_softmax import MASKED, Rule, Seen, merge, softmax_part, visible

NAME = "drl_shared_prefix"
"""Under which transformers knows this attention."""

FAR = 2**31 - 1
"""The position of a key that is not there: later than any token."""


class UnsupportedModelError(Exception):
    """This attention cannot stand in for the model's own."""


@dataclass(frozen=True, slots=True)
class Stored:
    """Keys and values of some tokens of one sequence in all layers.

    keys [Y, G, S, D] and values [Y, G, S, Dv] in the model's dtype; positions int [S].
    """

    keys: Tensor
    values: Tensor
    positions: Tensor

    def cut(self, start: int, end: int) -> Stored:
        """A copy of a stretch, so that the rest can be freed."""
        return Stored(
            self.keys[:, :, start:end].clone(),
            self.values[:, :, start:end].clone(),
            self.positions[start:end].clone(),
        )


def join(parts: Sequence[Stored]) -> Stored:
    """The keys of several stretches as one; at least one."""
    if len(parts) == 1:
        return parts[0]
    return Stored(
        torch.cat([part.keys for part in parts], dim=2),
        torch.cat([part.values for part in parts], dim=2),
        torch.cat([part.positions for part in parts]),
    )


class Own(ABC):
    """Keys that only the sequences of a stretch of a step's tokens have."""

    tokens: slice

    @abstractmethod
    def attend(self, layer: int, query: Tensor, key: Tensor, value: Tensor, rule: Rule) -> Seen:
        """Keep the new keys and values, and look at all that are kept.

        Args:
            layer: which layer asks.
            query: [n, H, D], of the tokens of this part.
            key: [n, G, D].
            value: [n, G, Dv].
            rule: the layer's.
        """


@dataclass(frozen=True, slots=True)
class Stretch(Own):
    """Consecutive tokens of one sequence that see themselves and what is before them."""

    tokens: slice
    stored: Stored
    """Where their keys go; as long as the stretch."""

    def attend(self, layer: int, query: Tensor, key: Tensor, value: Tensor, rule: Rule) -> Seen:
        """Causal attention within the stretch."""
        self.stored.keys[layer].copy_(key.transpose(0, 1))
        self.stored.values[layer].copy_(value.transpose(0, 1))
        times = query.shape[1] // key.shape[1]
        q, k, v = (part.transpose(0, 1)[None] for part in (query, key, value))
        if times > 1:
            k, v = k.repeat_interleave(times, dim=1), v.repeat_interleave(times, dim=1)
        positions = self.stored.positions
        is_plain = rule.window is None or rule.window >= len(positions)
        mask = None if is_plain else visible(positions, positions, rule.window)
        out, lse = softmax_part(q, k, v, rule, mask, is_causal=is_plain)
        return Seen(out[0].transpose(0, 1), lse[0].transpose(0, 1))


@dataclass(frozen=True, slots=True)
class Rows(Own):
    """One new token each of R sequences, whose keys lie side by side in a buffer.

    keys [Y, R, G, S, D] and values [Y, R, G, S, Dv] are the used part of it, positions int [R, S],
    FAR where there is no key yet; ends int [R] says where the new key goes.
    """

    tokens: slice
    keys: Tensor
    values: Tensor
    positions: Tensor
    ends: Tensor
    masks: dict[int | None, Tensor] = field(default_factory=dict)

    def attend(self, layer: int, query: Tensor, key: Tensor, value: Tensor, rule: Rule) -> Seen:
        """Attention of each token over the keys of its row."""
        keys, values = self.keys[layer], self.values[layer]
        rows = torch.arange(len(self.ends), device=keys.device)
        keys[rows, :, self.ends] = key
        values[rows, :, self.ends] = value
        num_rows, num_heads, size = query.shape
        groups = key.shape[1]
        q = query.reshape(num_rows, groups, num_heads // groups, size)
        out, lse = softmax_part(q, keys, values, rule, self._mask(rule.window))
        return Seen(out.reshape(num_rows, num_heads, -1), lse.reshape(num_rows, num_heads))

    def _mask(self, window: int | None) -> Tensor:
        if window not in self.masks:
            now = self.positions.gather(1, self.ends[:, None])
            hidden = self.positions > now
            if window is not None:
                hidden |= now - self.positions >= window
            mask = torch.zeros(hidden.shape, dtype=self.keys.dtype, device=hidden.device)
            self.masks[window] = mask.masked_fill_(hidden, MASKED)[:, None, None]
        return self.masks[window]


@dataclass(frozen=True, slots=True)
class Probe(Own):
    """Finds out the shapes of a model's keys and values by layer; sees nothing."""

    tokens: slice
    shapes: dict[int, tuple[int, int, int]]
    """G, D and Dv by layer, once the model has run."""

    def attend(self, layer: int, query: Tensor, key: Tensor, value: Tensor, rule: Rule) -> Seen:
        """Note the shapes."""
        self.shapes[layer] = (key.shape[1], key.shape[2], value.shape[2])
        number, num_heads, _ = query.shape
        nothing = query.new_zeros((number, num_heads, value.shape[2]))
        return Seen(nothing, nothing[..., 0].float())


@dataclass(frozen=True, slots=True)
class Shared:
    """Keys that several tokens of a step see, all of them earlier than the tokens.

    tokens int [n] are places in the step; None means all.
    """

    stored: Stored
    tokens: Tensor | None

    def attend(self, layer: int, query: Tensor, positions: Tensor, rule: Rule) -> Seen:
        """Attention of query [n, H, D] at positions int [n] over these keys."""
        keys, values = self.stored.keys[layer][None], self.stored.values[layer][None]
        number, num_heads, size = query.shape
        groups = keys.shape[1]
        times = num_heads // groups
        q = query.view(number, groups, times, size).transpose(0, 1)
        q = q.reshape(1, groups, number * times, size)
        mask = None
        if rule.window is not None:
            mask = visible(positions, self.stored.positions, rule.window)
            mask = mask.repeat_interleave(times, dim=0)
        out, lse = softmax_part(q, keys, values, rule, mask)
        out = out.view(groups, number, times, -1).transpose(0, 1)
        lse = lse.view(groups, number, times).transpose(0, 1)
        return Seen(out.reshape(number, num_heads, -1), lse.reshape(number, num_heads))


@dataclass(frozen=True, slots=True)
class Step:
    """The tokens of one forward pass: what each owns, what they share, and where they stand.

    The tokens of `own` follow each other and are all tokens; positions int [N].
    """

    own: Sequence[Own]
    shared: Sequence[Shared]
    positions: Tensor
    windows: set[int | None] = field(default_factory=set)
    """The windows that layers asked for."""

    def attend(self, layer: int, query: Tensor, key: Tensor, value: Tensor, rule: Rule) -> Tensor:
        """From query [N, H, D], key [N, G, D] and value [N, G, Dv] of all tokens to [N, H, Dv]."""
        self.windows.add(rule.window)
        parts = [
            part.attend(layer, query[part.tokens], key[part.tokens], value[part.tokens], rule)
            for part in self.own
        ]
        if len(parts) == 1:
            out, lse = parts[0]
        else:
            out = torch.cat([part.out for part in parts])
            lse = torch.cat([part.lse for part in parts])
        for shared in self.shared:
            out, lse = self._look(shared, layer, query, Seen(out, lse), rule)
        if rule.sinks is not None:
            out = out * torch.sigmoid(lse - rule.sinks)[..., None].to(out.dtype)
        return out

    def _look(self, shared: Shared, layer: int, query: Tensor, seen: Seen, rule: Rule) -> Seen:
        tokens = shared.tokens
        if tokens is None:
            return merge(seen, shared.attend(layer, query, self.positions, rule))
        more = shared.attend(layer, query[tokens], self.positions[tokens], rule)
        out, lse = merge(Seen(seen.out[tokens], seen.lse[tokens]), more)
        return Seen(seen.out.index_copy(0, tokens, out), seen.lse.index_copy(0, tokens, lse))


def attend(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    *,
    scaling: float | None = None,
    sliding_window: int | None = None,
    softcap: float | None = None,
    s_aux: Tensor | None = None,
    shared_prefix_step: Step | None = None,
    **others: object,
) -> tuple[Tensor, None]:
    """What transformers calls: query [1, H, N, D], key and value [1, G, N, D] to [1, N, H, D].

    Raises:
        UnsupportedModelError: the model asks for something that this attention does not do.
    """
    unknown = [name for name, given in others.items() if given is not None and name not in _IGNORED]
    if unknown or attention_mask is not None or shared_prefix_step is None:
        raise UnsupportedModelError(f"its attention needs {unknown or 'masks of its own'}")
    layer = vars(module).get("layer_idx")
    if not isinstance(layer, int):
        raise UnsupportedModelError("its attention layers are not numbered")
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    out = shared_prefix_step.attend(
        layer,
        query[0].transpose(0, 1),
        key[0].transpose(0, 1),
        value[0].transpose(0, 1),
        Rule(scale, sliding_window, softcap, s_aux),
    )
    return out[None], None


def register() -> None:
    """Make this attention known to transformers; doing it twice changes nothing."""
    AttentionInterface.register(NAME, attend)


_IGNORED = frozenset(
    {
        "dropout",
        "is_causal",
        "output_attentions",
        "output_router_logits",
        "position_ids",
        "use_cache",
    }
)
