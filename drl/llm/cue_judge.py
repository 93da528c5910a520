"""Marks turns by the listener's face alone, in place of a model that judges (LLM-GELI).

It answers the prompts of `drl.labelling` by a rule, so that `trainer=reward_model/llm_geli` can be
tried out without a model. It reads no word of what was said: what it finds is what faces tell.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from drl.errors import ConfigError
from drl.llm._words import count_prompt, cut, words
from drl.llm.base import LLM, Completion, Completions, Request, Usage

_ASKED = re.compile(r"in this order: (\d+(?:, \d+)*)\.\s*\Z")
_TURN = re.compile(r"^(\d+)\. AGENT: ", re.MULTILINE)
_FACE = re.compile(r"\[LISTENER .*?face shows (\w+)(?:, (\d+)% of the time)?[^\[]*\]$")
_SIGNS: Mapping[str, float] = {
    "happiness": 1.0,
    **dict.fromkeys(("anger", "contempt", "disgust", "fear", "sadness"), -1.0),
}
"""Of the faces that count; neutral and surprised ones do not."""


class CueJudge(LLM):
    """Gives the share of seconds that a turn's commonest face was seen, with the sign of that face.

    Args:
        model: a name for reports.
        weight: the mark of a face that was seen all the time.
    """

    in_process = True

    def __init__(self, *, model: str, weight: float) -> None:
        if not 0 < weight <= 1:
            raise ConfigError(f"llm.weight={weight} must lie in (0, 1]; marks do")
        self._model = model
        self._weight = weight

    @property
    def model(self) -> str:
        """The name in reports."""
        return self._model

    @property
    def identity(self) -> Mapping[str, str]:
        """The rule."""
        return {"backend": "cue_judge", "model": self._model, "weight": f"{self._weight:g}"}

    async def complete(self, request: Request) -> Completions:
        """The same marks for every seed."""
        text, is_cut = cut(self._reply(request), request.sampling)
        choice = Completion(text, "length" if is_cut else "stop")
        usage = Usage(
            tokens_in=count_prompt(request),
            tokens_cached=0,
            tokens_out=request.n * len(words(text)),
        )
        return Completions((choice,) * request.n, usage, seconds=0.0)

    async def close(self) -> None:
        """Nothing is open."""

    def _reply(self, request: Request) -> str:
        asked = _ASKED.search(request.messages[0].content)
        if asked is None:
            return "I can only mark the turns of a conversation."
        marks = self._marks(request.messages[-1].content)
        found = [
            {"turn": int(turn), "mark": marks.get(int(turn), 0.0)} for turn in asked[1].split(", ")
        ]
        return json.dumps({"marks": found, "summary": "They talked."})

    def _marks(self, transcript: str) -> Mapping[int, float]:
        """By number of the turn."""
        marks: dict[int, float] = {}
        for line in transcript.splitlines():
            turn, face = _TURN.match(line), _FACE.search(line)
            if turn is not None and face is not None:
                share = int(face[2]) / 100 if face[2] else 1.0
                marks[int(turn[1])] = round(self._weight * share * _SIGNS.get(face[1], 0.0), 3)
        return marks
