"""How true a simulated customer stays to its part, measured on finished dialogues.

Every measure looks at words and calls only, so users of any make compare. They are careful: what
they find is meant to be there, and they miss some.

    goal_coverage    share of the values it had to say (`_voiced`) that it said
    leakage          1 if it said something that it cannot know or should keep to itself
    role_flips       1 if it spoke as the agent would
    premature_stops  1 if it hung up with something unsaid that the agent had not named either, or
                     in the very turn that asks the agent to act, with goals open
    endless_talk     1 if it never hung up
    repetitions      share of its turns that say again what it said before, to an agent that did not
    broken_turns     share of its turns that broke or are empty
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

from drl.domains.conversation import consents, role_flip
from drl.evaluation._unknowable import unknowable
from drl.evaluation._voiced import needed
from drl.types import Role, StopReason, Task, Turn
from drl.user_simulator.base import END_OF_CONVERSATION

MEASURES = (
    "goal_coverage",
    "leakage",
    "role_flips",
    "premature_stops",
    "endless_talk",
    "repetitions",
    "broken_turns",
)


class Finding(NamedTuple):
    """One thing that is wrong: the measure it counts in, the turn (from 0), and what it is."""

    measure: str
    turn: int
    what: str


@dataclass(frozen=True, slots=True)
class Fidelity:
    """The measures of one dialogue; None where it gave no occasion."""

    goal_coverage: float | None
    leakage: float
    role_flips: float
    premature_stops: float
    endless_talk: float
    repetitions: float
    broken_turns: float
    findings: tuple[Finding, ...]

    def numbers(self) -> dict[str, float | None]:
        """The measures by name."""
        return {name: value for name, value in asdict(self).items() if name in MEASURES}


def fidelity(
    task: Task, dialogue: Sequence[Turn], stop: StopReason | None, num_open_goals: int
) -> Fidelity:
    """All measures of one dialogue, given why it stopped and how many goals were open then."""
    spoken = [t for t in dialogue if t.role is Role.USER and not _is_broken(t)]
    num_turns = sum(turn.role is Role.USER for turn in dialogue)
    wanted = needed(task, dialogue)
    unsaid = [one for one in wanted if not one.is_in(turn.text or "" for turn in spoken)]
    last = len(dialogue) - 1
    findings = (*_of_turns(task, dialogue), *_of_the_end(task, dialogue, stop, num_open_goals))
    count = {name: sum(f.measure == name for f in findings) for name in MEASURES}
    return Fidelity(
        goal_coverage=1 - len(unsaid) / len(wanted) if wanted else None,
        leakage=float(count["leakage"] > 0),
        role_flips=float(count["role_flips"] > 0),
        premature_stops=float(count["premature_stops"] > 0),
        endless_talk=float(count["endless_talk"] > 0),
        repetitions=count["repetitions"] / num_turns if num_turns else 0.0,
        broken_turns=count["broken_turns"] / num_turns if num_turns else 0.0,
        findings=(
            *findings,
            *(Finding("goal_coverage", last, f"never says {one}") for one in unsaid),
        ),
    )


def _of_turns(task: Task, dialogue: Sequence[Turn]) -> Iterator[Finding]:
    answered: dict[str, set[str]] = {}
    for index, turn in enumerate(dialogue):
        if turn.role is not Role.USER:
            continue
        if _is_broken(turn):
            yield Finding("broken_turns", index, turn.failure.cause if turn.failure else "is empty")
            continue
        text = _words(turn)
        for what in unknowable(task, dialogue[:index], turn):
            yield Finding("leakage", index, what)
        if role_flip(text):
            yield Finding("role_flips", index, f'speaks as the agent: "{text}"')
        heard = " ".join((dialogue[index - 1].text or "").split()) if index else ""
        before = answered.setdefault(text.casefold(), set())
        if before and heard not in before and text:
            yield Finding("repetitions", index, f'says again: "{text}"')
        before.add(heard)


def _of_the_end(
    task: Task, dialogue: Sequence[Turn], stop: StopReason | None, num_open_goals: int
) -> Iterator[Finding]:
    last = len(dialogue) - 1
    if stop is StopReason.MAX_TURNS:
        yield Finding("endless_talk", last, "does not hang up")
    if stop is not StopReason.USER_ENDED:
        return
    texts = [turn.text or "" for turn in dialogue]
    unsaid = [str(one) for one in needed(task, dialogue) if not one.is_in(texts)]
    if unsaid:
        yield Finding("premature_stops", last, f"hangs up before saying {', '.join(unsaid)}")
    elif num_open_goals and consents(_words(dialogue[-1]), texts[-2] if last else ""):
        yield Finding(
            "premature_stops", last, "hangs up in the turn in which it asks for an action"
        )


def _words(turn: Turn) -> str:
    """What it says, without the word that hangs up."""
    return " ".join((turn.text or "").replace(END_OF_CONVERSATION, " ").split())


def _is_broken(turn: Turn) -> bool:
    return turn.failure is not None or not (turn.text or "").strip()
