"""Texts that no model made, cut as a model's would be: a word stands for a token."""

from __future__ import annotations

import re
from typing import NamedTuple

from drl.llm.base import Request, Sampling

_WORD = re.compile(r"\s*\S+\s*\Z|\s*\S+")


class Cut(NamedTuple):
    """What is left of a text, and whether it was longer than allowed."""

    text: str
    is_cut: bool


def words(text: str) -> list[str]:
    """Its words with the space before them; joined they are the text again."""
    return _WORD.findall(text)


def count_prompt(request: Request) -> int:
    """Words of all messages."""
    return sum(len(words(message.content)) for message in request.messages)


def cut(text: str, sampling: Sampling) -> Cut:
    """A text as far as it may go: `max_tokens` words, and not up to a stop string."""
    all_words = words(text)
    kept = "".join(all_words[: sampling.max_tokens])
    ends = [kept.index(stop) for stop in sampling.stop if stop in kept]
    if ends:
        return Cut(kept[: min(ends)], is_cut=False)
    return Cut(kept, len(all_words) > sampling.max_tokens)
