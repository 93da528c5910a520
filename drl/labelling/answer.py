"""A judge's reply: JSON, read strictly; what is wrong with it is told in words it can act on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from drl.runtime.surrogates import writable

LONGEST_SUMMARY = 800
"""Characters of a summary that the next part is told."""


class FaultyReplyError(ValueError):
    """A reply that cannot be used; the message says why, to whoever wrote it."""


class Answer(NamedTuple):
    """The marks by number of the turn, and what happened, in short."""

    marks: Mapping[int, float]
    summary: str


class _Mark(BaseModel):
    model_config = ConfigDict(strict=True)
    turn: int
    mark: Annotated[float, Field(ge=-1, le=1)]


class _Reply(BaseModel):
    model_config = ConfigDict(strict=True)
    marks: list[_Mark]
    summary: str = ""


def read(text: str, turns: Sequence[int]) -> Answer:
    """The answer in a reply that must mark exactly these turns.

    The object may have words or a code fence around it, as models like to add them; inside it all
    must be right.

    Raises:
        FaultyReplyError: it holds no such object.
    """
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        raise FaultyReplyError("it holds no JSON object")
    try:
        reply = _Reply.model_validate_json(writable(text[start : end + 1]))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise FaultyReplyError(f"{place}: {first['msg']}" if place else first["msg"]) from error
    counts = Counter(mark.turn for mark in reply.marks)
    for wrong, words in (
        ([turn for turn in turns if turn not in counts], "without a mark"),
        ([turn for turn in counts if turn not in turns], "marked, but not asked for"),
        ([turn for turn, count in counts.items() if count > 1], "marked more than once"),
    ):
        if wrong:
            raise FaultyReplyError(f"turns {', '.join(map(str, wrong[:10]))} are {words}")
    summary = " ".join(reply.summary.split())[:LONGEST_SUMMARY]
    return Answer({mark.turn: mark.mark for mark in reply.marks}, summary)
