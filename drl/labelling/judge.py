"""A language model marks the agent's turns of a session, part by part, several times over.

Axes: K samples, T agent turns of one session.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from drl.labelling.answer import Answer, FaultyReplyError, read
from drl.labelling.prompt import again, agent_numbers, instruction, transcript, windows
from drl.labelling.question import Question
from drl.labelling.settings import LabelSettings
from drl.llm.base import LLM, ContextOverflowError, Message, Request
from drl.runtime.seeds import derive
from drl.turn_reward.session import Session
from drl.types import Place

Floats = NDArray[np.float64]

TRAINING = "train"
"""The only split whose scores a judge may see: all others are what figures are reported on."""


class Marks(NamedTuple):
    """float [K, T]: the samples that could be used, which may be none; and all faults of replies.

    `num_lost`: samples given up. Of what is not lost, faults were mended by asking again.
    """

    samples: Floats
    num_lost: int
    faults: tuple[str, ...]


def sees_score(session: Session) -> bool:
    """Whether a judge may be told what the listener answered."""
    return session.split == TRAINING and session.score is not None


@dataclass(frozen=True, kw_only=True)
class Judge:
    """Asks one model. Replies are seeded by `seed`, session, sample, part and attempt."""

    llm: LLM
    settings: LabelSettings
    question: Question
    seed: int

    async def mark(self, session: Session) -> Marks:
        """Marks between -1 and 1 of the agent's turns.

        Raises:
            OutageError: the model cannot be reached.
            BudgetError: the next request might pass the budget.
        """
        faults: list[str] = []
        each = await asyncio.gather(
            *(self._sample(session, number, faults) for number in range(self.settings.samples))
        )
        used = [marks for marks in each if marks is not None]
        samples = np.array(used).reshape(len(used), len(session.agent_turns))
        return Marks(samples, len(each) - len(used), tuple(sorted(faults)))

    async def _sample(self, session: Session, number: int, faults: list[str]) -> Floats | None:
        """float [T], or None where a part could not be had."""
        heard: dict[int, list[float]] = {place + 1: [] for place in session.agent_turns}
        summary = ""
        parts = windows(session, self.settings.window, self.settings.overlap)
        for position, part in enumerate(parts):
            answer = await self._ask(session, part, (number, position), summary, faults)
            if answer is None:
                return None
            for turn, mark in answer.marks.items():
                heard[turn].append(mark)
            summary = answer.summary
        return np.array([sum(marks) / len(marks) for marks in heard.values()], dtype=np.float64)

    async def _ask(
        self,
        session: Session,
        part: range,
        which: tuple[int, int],
        summary: str,
        faults: list[str],
    ) -> Answer | None:
        """The answer about one part; None where none of the replies can be used."""
        sample, position = which
        told = self._messages(session, part, sample, summary)
        place = Place(session.id, 0, position)
        fault = ""
        for attempt in range(self.settings.retries + 1):
            messages = told if not attempt else _with_fault(told, fault)
            seed = derive(self.seed, "judge", session.id, sample, position, attempt)
            request = Request(messages, self.settings.sampling, (seed,), "judge", place=place)
            try:
                completions = await self.llm.complete(request)
            except ContextOverflowError as error:
                faults.append(str(error))
                return None  # it will not get shorter by being asked again
            reply = completions.choices[0]
            try:
                return read(reply.text, agent_numbers(session, part))
            except FaultyReplyError as error:
                is_cut = reply.finish_reason == "length"
                fault = f"it was cut at {self.settings.max_tokens} tokens" if is_cut else str(error)
                faults.append(fault)
        return None

    def _messages(
        self, session: Session, part: range, sample: int, summary: str
    ) -> tuple[Message, Message]:
        shows_cues = self.settings.cues
        # the first sample sees cues in the order of the data, so that one sample is no lottery
        order = Random(derive(self.seed, "cues", session.id, sample)) if sample else None
        asked = instruction(
            session,
            part,
            self.question,
            shows_score=sees_score(session),
            shows_cues=shows_cues,
            before=summary,
        )
        shown = transcript(session, part, order, shows_cues=shows_cues)
        return Message("system", asked), Message("user", shown)


def _with_fault(messages: tuple[Message, Message], fault: str) -> tuple[Message, Message]:
    """The same messages; the last one says what was wrong."""
    first, last = messages
    return first, Message(last.role, f"{last.content}\n\n{again(fault)}")
