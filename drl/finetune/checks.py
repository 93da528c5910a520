"""What an answer to an instruction can be held to without a judge: its form, and plain facts.

Every check takes the answer and what `instructions.jsonl` gives for it. White space around an
answer never counts; where words are compared, neither do case, quotes and punctuation around them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence

from drl.types import JSON

_EDGES = " \t\r\n.,;:!?\"'`*()[]{}“”‘’…"
_FENCE = re.compile(r"^```\w*\n(.*?)\n?```$", re.DOTALL)
_NUMBERED = re.compile(r"^\s*\d+[.)]\s+\S")
_BULLET = re.compile(r"^\s*[-*•]\s+\S")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_SENTENCE = re.compile(r"[.!?]+(?=\s|$)")


def word_count(answer: str, low: int, high: int) -> bool:
    """From `low` to `high` words between white space."""
    return low <= len(answer.split()) <= high


def sentence_count(answer: str, n: int) -> bool:
    """So many sentences, each closed by a mark."""
    text = answer.strip()
    return text[-1:] in tuple(".!?") and len(_SENTENCE.findall(text)) == n


def line_count(answer: str, n: int) -> bool:
    """So many lines that are not empty."""
    return len(_lines(answer)) == n


def is_lower_case(answer: str) -> bool:
    """Letters, none of them a capital."""
    return answer.islower()


def is_upper_case(answer: str) -> bool:
    """Letters, all of them capitals."""
    return answer.isupper()


def starts_with(answer: str, beginning: str) -> bool:
    """Begins with these very characters."""
    return answer.strip().startswith(beginning)


def ends_with(answer: str, ending: str) -> bool:
    """Ends with these words."""
    words, wanted = _words(answer), _words(ending)
    return words[-len(wanted) :] == wanted


def ends_exactly(answer: str, ending: str) -> bool:
    """Ends with these very characters."""
    return answer.strip().endswith(ending)


def contains(answer: str, words: Sequence[str]) -> bool:
    """Holds each of these words or phrases, in any case, as a word of its own."""
    return all(_times(answer, word) > 0 for word in words)


def contains_times(answer: str, word: str, n: int) -> bool:
    """Holds a word exactly so often."""
    return _times(answer, word) == n


def avoids(answer: str, texts: Sequence[str], at_least: int) -> bool:
    """Holds none of these characters, in any case, but at least so many words."""
    lower = answer.lower()
    return len(answer.split()) >= at_least and not any(text.lower() in lower for text in texts)


def says(answer: str, texts: Sequence[str]) -> bool:
    """Is one of these texts and nothing else."""
    return any(_words(answer) == _words(text) for text in texts)


def is_number(answer: str, value: float) -> bool:
    """Is this number and nothing else."""
    text = answer.strip(_EDGES)
    return _NUMBER.fullmatch(text) is not None and float(text) == value


def has_number(answer: str, value: float) -> bool:
    """Holds this number."""
    return any(float(number) == value for number in _NUMBER.findall(answer.replace(",", "")))


def is_object(answer: str, keys: Sequence[str]) -> bool:
    """Is a JSON object with exactly these keys; a fence of code around it does not count."""
    read = _json(answer)
    return isinstance(read, dict) and set(read) == set(keys)


def is_array(answer: str, n: int) -> bool:
    """Is a JSON array of so many items; a fence of code around it does not count."""
    read = _json(answer)
    return isinstance(read, list) and len(read) == n


def numbered_items(answer: str, n: int) -> bool:
    """Has so many lines like `1. item`."""
    return sum(_NUMBERED.match(line) is not None for line in _lines(answer)) == n


def bullet_items(answer: str, n: int) -> bool:
    """Has so many lines like `- item`."""
    return sum(_BULLET.match(line) is not None for line in _lines(answer)) == n


def separated(answer: str, by: str, n: int) -> bool:
    """Is one line of so many parts with this between them."""
    parts = [part.strip() for part in answer.strip().strip(".").split(by)]
    return len(_lines(answer)) == 1 and len(parts) == n and all(parts)


CHECKS: Mapping[str, Callable[..., bool]] = {
    check.__name__: check
    for check in (
        word_count, sentence_count, line_count, is_lower_case, is_upper_case, starts_with,
        ends_with, ends_exactly, contains, contains_times, avoids, says, is_number, has_number,
        is_object, is_array, numbered_items, bullet_items, separated,
    )
}  # fmt: skip
"""The checks by the names that `instructions.jsonl` uses."""


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def _words(text: str) -> list[str]:
    stripped = [word.strip(_EDGES).lower() for word in text.split()]
    return [word for word in stripped if word]


def _times(text: str, word: str) -> int:
    return len(re.findall(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE))


def _json(answer: str) -> JSON:
    """What an answer holds as JSON; None where it holds none."""
    text = answer.strip()
    fenced = _FENCE.match(text)
    try:
        return json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        return None
