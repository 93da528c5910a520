"""The prompt of one part of a session: numbered turns, and what is asked about them."""

from __future__ import annotations

from random import Random

from drl.labelling.cues import describe
from drl.labelling.question import Question
from drl.runtime.prompts import fill
from drl.runtime.surrogates import writable
from drl.turn_reward.session import Session, SessionTurn
from drl.types import Role

LONGEST_TURN = 2000
"""Characters of a turn that are shown; of a longer one the middle is left out."""

_PACKAGE = "drl.labelling"


def windows(session: Session, size: int, overlap: int) -> list[range]:
    """Parts of a session as places in its turns; each has a turn of the agent that is its own.

    All have `size` turns, and share `overlap` with the part before; the last one shares more.
    """
    num = len(session.turns)
    if num <= size:
        return [range(num)]
    starts = [*range(0, num - size, size - overlap), num - size]
    found: list[range] = []
    reached = 0
    for start in starts:
        part = range(start, start + size)
        if any(
            session.turns[place].role is Role.AGENT for place in part[max(0, reached - start) :]
        ):
            found.append(part)
            reached = part.stop
    return found


def agent_numbers(session: Session, part: range) -> list[int]:
    """The numbers under which the agent's turns of a part are shown: their places, from 1."""
    return [place + 1 for place in part if session.turns[place].role is Role.AGENT]


def instruction(
    session: Session,
    part: range,
    question: Question,
    *,
    shows_score: bool,
    shows_cues: bool,
    before: str,
) -> str:
    """What the judge is to do with the part that `transcript` shows.

    Args:
        session: the whole one.
        part: places in its turns.
        question: what the listener answered.
        shows_score: tells the answer. Never for sessions that a figure is reported on.
        shows_cues: brackets stand in the transcript.
        before: what came before the part, in short; "" for the first.
    """
    answer = "What was answered is not known to you."
    if shows_score and session.score is not None:
        answer = f"The LISTENER answered {session.score:g}."
    is_last = part.stop == len(session.turns)
    return fill(
        _PACKAGE,
        "judge.md",
        question=question.words,
        lowest=f"{question.lowest:g}",
        highest=f"{question.highest:g}",
        answer=answer,
        cues=f"\n{fill(_PACKAGE, 'cues.md')}\n" if shows_cues else "",
        before=f"\n{fill(_PACKAGE, 'before.md', summary=before)}\n" if before else "",
        summary="" if is_last else "the conversation up to here, in sixty words at most",
        turns=", ".join(map(str, agent_numbers(session, part))),
    )


def transcript(session: Session, part: range, cues: Random | None, *, shows_cues: bool) -> str:
    """The turns of a part, one a line; `cues` draws the order of what brackets hold."""
    return "\n".join(
        _line(place + 1, session.turns[place], cues, shows_cues=shows_cues) for place in part
    )


def _line(number: int, turn: SessionTurn, cues: Random | None, *, shows_cues: bool) -> str:
    who = "AGENT" if turn.role is Role.AGENT else "LISTENER"
    line = f"{number}. {who}: {_shortened(' '.join(turn.text.split()))}"
    if shows_cues and turn.reaction is not None:
        told = describe(turn.reaction.cues, cues)
        line += f" [LISTENER {told}]" if told else ""
    return writable(line)


def _shortened(text: str) -> str:
    if len(text) <= LONGEST_TURN:
        return text
    half = LONGEST_TURN // 2
    return f"{text[:half]} ... {text[-half:]}"


def again(fault: str) -> str:
    """What follows the transcript after a reply that could not be used."""
    return fill(_PACKAGE, "again.md", fault=fault)
