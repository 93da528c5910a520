"""Stands in for a model that judges: counts which words of a reference an answer holds.

It answers our own judge prompts (`drl.domains.judge.own_prompts`), so that reward=judge and
trainer=mt_bench can be tried out without a key. That is a check of the set-up and no measurement:
it does not read what an answer says.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from drl.domains.judge.own_prompts import shown
from drl.errors import ConfigError
from drl.llm._words import count_prompt, cut, words
from drl.llm.base import LLM, Completion, Completions, Request, Usage

_WORD = re.compile(r"\w+")
_FILLERS = frozenset({"a", "an", "and", "at", "in", "is", "it", "of", "on", "the", "to"})


class RuleJudge(LLM):
    """Rates 1 for an answer with no word of the reference, up to 10 for one with all of them.

    Of two answers the one with more of them wins. Where the prompt shows no reference it says so,
    and gives no rating.

    Args:
        model: a name for reports and files.
        tie: two shares of words that differ by no more are a tie.
    """

    in_process = True

    def __init__(self, *, model: str, tie: float) -> None:
        if not 0 <= tie < 1:
            raise ConfigError(f"llm.tie={tie} must lie in [0, 1); it is a gap between two shares")
        self._model = model
        self._tie = tie

    @property
    def model(self) -> str:
        """The name in reports."""
        return self._model

    @property
    def identity(self) -> Mapping[str, str]:
        """The rule."""
        return {"backend": "rule_judge", "model": self._model, "tie": f"{self._tie:g}"}

    async def complete(self, request: Request) -> Completions:
        """The same judgment for every seed."""
        text, is_cut = cut(self._judgment(request.messages[-1].content), request.sampling)
        choice = Completion(text, "length" if is_cut else "stop")
        usage = Usage(
            tokens_in=count_prompt(request),
            tokens_cached=0,
            tokens_out=request.n * len(words(text)),
        )
        return Completions((choice,) * request.n, usage, seconds=0.0)

    async def close(self) -> None:
        """Nothing is open."""

    def _judgment(self, prompt: str) -> str:
        case = shown(prompt)
        wanted = _words(case.reference) if case else frozenset()
        if case is None or not wanted:
            return "I can only look for the words of a reference, and this prompt shows me none."
        held = [len(wanted & _words(answer)) for answer in case.answers]
        said = f"The reference has {len(wanted)} words, and the answer holds"
        if len(case.answers) == 1:
            return f"{said} {held[0]} of them.\nGrade: [[{round(1 + 9 * held[0] / len(wanted))}]]"
        return f"{said}: A {held[0]}, B {held[1]}.\n[[{self._verdict(held, len(wanted))}]]"

    def _verdict(self, held: list[int], num_wanted: int) -> str:
        gap = (held[0] - held[1]) / num_wanted
        if abs(gap) <= self._tie:
            return "C"
        return "A" if gap > 0 else "B"


def _words(text: str) -> frozenset[str]:
    """Its words and numbers in lower case, but for those that stand in any text."""
    return frozenset(_WORD.findall(text.lower())) - _FILLERS
