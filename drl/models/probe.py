"""Tokens to try a model with, where what they say does not matter."""

from __future__ import annotations


def probe_ids(vocab_size: int, length: int) -> list[int]:
    """Token ids, spread over the vocabulary."""
    return [(37 * place + 11) % vocab_size for place in range(length)]
