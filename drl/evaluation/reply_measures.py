"""What can be read off a reply, whatever it was rewarded for: its length, repetition, sentiment."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from drl.errors import ConfigError
from drl.signals.extras import need

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


def num_words(text: str) -> int:
    """How many words there are."""
    return len(WORD.findall(text))


def distinct_pairs(text: str) -> float:
    """Share of pairs of neighbouring words that are not said again (distinct-2); 0 without any."""
    return _share_distinct(_pairs(text))


def distinct_pairs_of_all(texts: Sequence[str]) -> float:
    """The same over several texts: it falls where they become like each other.

    It falls with the number of texts as well, so compare equally many.
    """
    return _share_distinct([pair for text in texts for pair in _pairs(text)])


def sentiment_lexicon() -> Callable[[str], float] | None:
    """How positive a text is, from -1 to 1, by the lexicon VADER; None where it is not installed.

    Hutto and Gilbert 2014. A proxy: it knows words, not whether they are welcome.
    """
    try:
        vader = need("vaderSentiment.vaderSentiment", "the sentiment of replies")
    except ConfigError:  # an optional package: the measure is left out, and the summary says so
        return None
    analyser = vader.SentimentIntensityAnalyzer()
    return lambda text: float(analyser.polarity_scores(text)["compound"])


def _pairs(text: str) -> list[tuple[str, str]]:
    return list(pairwise(word.lower() for word in WORD.findall(text)))


def _share_distinct(pairs: Sequence[tuple[str, str]]) -> float:
    return len(set(pairs)) / len(pairs) if pairs else 0.0
