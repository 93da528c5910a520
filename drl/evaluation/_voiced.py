"""Which of its task's values a customer had to say, and which of them were said."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from drl.domains.toolwoz.comprehension import clock, read_values, tokens
from drl.evaluation.conduct import mentions
from drl.types import JSON, Role, Task, Turn, Wish

_ANY = frozenset({"dontcare", "dont care", "don't care", "do n't care", "not mentioned"})
_TIMES = frozenset({"leaveAt", "arriveBy", "time"})
_ROLES_OPEN = {
    "departure": "station",
    "destination": "station",
    "people": "number",
    "stay": "number",
    "stars": "number",
}
"""Slots whose values may be said without a word of what they are for: 'Six.'"""
_READ = {*_TIMES, *_ROLES_OPEN, "area", "pricerange", "food", "type", "day", "internet", "parking"}
"""Slots that texts are read for; of others only the bare value can be looked for."""


@dataclass(frozen=True, slots=True)
class Needed:
    """Something that the customer has to say; for a wish with a first attempt either value does."""

    slot: str
    values: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.slot}={' or '.join(self.values)}"

    def is_in(self, texts: Iterable[str]) -> bool:
        """Whether one of the texts says it."""
        return any(_says(text, self.slot, value) for text in texts for value in self.values)


def needed(task: Task, dialogue: Sequence[Turn]) -> list[Needed]:
    """What the customer of this dialogue had to say.

    The constraints of each wish that matter, and its booking unless no search found anything to
    book. Tasks without wishes: those arguments of their goals that the instructions name.
    """
    if not task.brief.wishes:
        return list(_of_goals(task))
    found = []
    for wish in task.brief.wishes:
        found += _either(wish.constraints, wish.first_constraints)
        if _could_book(wish, dialogue):
            found += _either(wish.booking, wish.first_booking)
    return found


def _either(final: Mapping[str, str], first: Mapping[str, str]) -> Iterator[Needed]:
    for slot, value in final.items():
        values = tuple(dict.fromkeys((value, first.get(slot, value))))
        if value.casefold() not in _ANY:
            yield Needed(slot, values)


def _could_book(wish: Wish, dialogue: Sequence[Turn]) -> bool:
    """Whether any of the agent's calls about the wish's domain found something."""
    return any(
        executed.result.error is None and executed.result.value not in ([], None)
        for turn in dialogue
        if turn.role is Role.AGENT
        for executed in turn.executed()
        if executed.call.name.endswith(f"_{wish.domain}")
    )


def _of_goals(task: Task) -> Iterator[Needed]:
    text = "\n".join(task.brief.instructions)
    pairs = [(k, v) for goal in task.goals for k, v in goal.arguments.items()]
    for slot, value in dict.fromkeys((k, _plain(v)) for k, v in pairs):
        if value is not None and mentions(text, value):
            yield Needed(slot, (value,))


def _plain(value: JSON) -> str | None:
    return str(value) if isinstance(value, str | int | float) and str(value).strip() else None


def _says(text: str, slot: str, value: str) -> bool:
    words = tokens(text)
    if slot == "name":
        name = tokens(value.removeprefix("the "))
        return any(words[at : at + len(name)] == name for at in range(len(words)))
    if (slot, value) == ("type", "hotel"):
        return "hotel" in words or "hotels" in words  # the word is also that of the domain
    wanted = _time(value) if slot in _TIMES else value.casefold()
    for mention in read_values(words):
        said = _time(mention.value) if mention.slot in _TIMES else mention.value.casefold()
        same = mention.slot in (slot, _ROLES_OPEN.get(slot)) or {mention.slot, slot} <= _TIMES
        if (same or slot not in _READ) and said == wanted and not mention.denied:
            return True
    is_read = any(m.value.casefold() == wanted for m in read_values(tokens(value)))
    return not is_read and value not in ("yes", "no") and mentions(text, value)


def _time(value: str) -> str:
    return clock(value) or value
