"""The judge prompts of MT-Bench, as their file holds them; they are filled and never reworded."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from drl.errors import DataError
from drl.types import JSON

RATING: Final = "[[rating]]"
WINNER: Final = "[[A]]"
RATINGS: Final = "[[rating_a,rating_b]]"
FORMATS: Final = (RATING, WINNER, RATINGS)
"""How a judgment may have to end: rating an answer, naming the better of two, or rating both."""

_PLACE = re.compile(r"\{\{|\}\}|\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class JudgePrompt:
    """One of them; `output_format` is one of `FORMATS`."""

    name: str
    system: str
    template: str
    output_format: str

    def fill(self, texts: Mapping[str, str]) -> str:
        """The template with its places filled; braces in what fills them mean nothing.

        Raises:
            DataError: it has a place that no text was given for.
        """
        return _PLACE.sub(lambda found: self._filled(found, texts), self.template)

    def _filled(self, found: re.Match[str], texts: Mapping[str, str]) -> str:
        place = found[1]
        if place is None:
            return found[0][0]  # a doubled brace stands for one
        if place not in texts:
            raise DataError(
                f"judge prompt {self.name} asks for {place}, which there is not, only "
                f"{', '.join(texts)}; use the published judge_prompts.jsonl"
            )
        return texts[place]


def prompt_of(row: Mapping[str, JSON], where: str) -> JudgePrompt:
    """A line of judge_prompts.jsonl.

    Raises:
        DataError: it is no such line; `where` says where it stands.
    """
    keys = ("name", "system_prompt", "prompt_template", "output_format")
    found = [row.get(key) for key in keys]
    for key, value in zip(keys, found, strict=True):
        if not isinstance(value, str):
            raise DataError(f"{where}: {key} is {value!r:.80}, and must be a text")
    prompt = JudgePrompt(*map(str, found))
    if prompt.output_format not in FORMATS:
        raise DataError(
            f"{where}: output_format is {prompt.output_format!r:.80}, and must be one of "
            f"{', '.join(FORMATS)}"
        )
    return prompt
