"""Rewards that can be read off a text: python run.py +experiment=text_ppo."""

import re

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
LONGEST_SHORT = 4
"""Letters of a short word."""
FEWEST = 10
"""Words of a text that earns all of its share."""


def short_words(prompt: str, text: str) -> float:
    """Share of words with at most four letters; texts of less than ten words earn part of it.

    Without the second rule the best text would be one short word, or nothing.
    """
    words = _WORD.findall(text)
    if not words:
        return 0.0
    short = sum(len(word) <= LONGEST_SHORT for word in words)
    return short / len(words) * min(1.0, len(words) / FEWEST)
