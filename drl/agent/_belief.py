"""What an agent holds true after the dialogue so far, rebuilt from it each time.

Public turns say what the customer wants; the agent's own steps say what the tools returned.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from drl.types import JSON, Step, ToolCall, ToolResult

MAX_ASKED: Final = 2
"""How often a slot is asked for before the agent goes on without it."""


@dataclass(slots=True)
class DomainBelief:
    """One domain: what the customer wants, and what the tools said.

    `row` is the entity under discussion as a search returned it. `searched` and `tried` are the
    arguments of the last search and booking; None before there was one. `reference` is set once
    a booking succeeded, `reason` when one failed and said why.
    """

    wanted: dict[str, str] = field(default_factory=dict)
    indifferent: set[str] = field(default_factory=set)
    booking: dict[str, str] = field(default_factory=dict)
    wants_booking: bool = False
    declined_booking: bool = False
    asked: dict[str, int] = field(default_factory=dict)
    row: Mapping[str, JSON] | None = None
    searched: Mapping[str, JSON] | None = None
    tried: Mapping[str, JSON] | None = None
    reference: str | None = None
    reason: str | None = None
    mentioned: bool = False

    def is_settled(self, slot: str) -> bool:
        """Whether there is no point in asking for a slot (again)."""
        return self.is_answered(slot) or self.asked.get(slot, 0) >= MAX_ASKED

    def is_answered(self, slot: str) -> bool:
        """Whether the customer has said something about a slot."""
        return slot in self.wanted or slot in self.booking or slot in self.indifferent

    def doubt(self, slot: str, value: str) -> None:
        """The customer repeats what the entity under discussion is not: search again."""
        held = None if self.row is None else self.row.get(slot)
        if isinstance(held, str) and held != value and slot not in ("leaveAt", "arriveBy"):
            self.searched = None

    def want(self, slot: str, value: str) -> None:
        """The customer wants a value; a new one replaces the old."""
        self.wanted[slot] = value
        self.indifferent.discard(slot)

    def take(self, call: ToolCall, result: ToolResult, *, trusts_itself: bool) -> None:
        """What one call of this domain returned."""
        if call.name.startswith("search_"):
            self.searched = dict(self.wanted) if trusts_itself else call.arguments
            rows = result.value
            first = rows[0] if isinstance(rows, list) and rows else None
            self.row = first if isinstance(first, Mapping) else None
        elif call.name.startswith("book_"):
            self.tried = call.arguments
            answer = result.value
            self.reason = result.error
            if isinstance(answer, Mapping) and answer.get("success") is True:
                returned = answer.get("return")
                reference = returned.get("reference") if isinstance(returned, Mapping) else None
                self.reference = str(reference) if reference is not None else ""
            elif isinstance(answer, Mapping) and isinstance(answer.get("reason"), str):
                self.reason = str(answer["reason"])


@dataclass(slots=True)
class Belief:
    """All domains, and where the dialogue stands.

    An agent that `trusts_itself` takes what it said for a fact even if no tool told it so, and its
    searches for what they should have been.
    `active` is the domain under discussion, `asked` what the agent's last turn asked for.
    `requests` are the slots that the customer's last turn asks for, `gave_values` and
    `asked_to_book` say what else it did.
    """

    domains: dict[str, DomainBelief]
    trusts_itself: bool = False
    active: str | None = None
    asked: frozenset[str] = frozenset()
    requests: frozenset[str] = frozenset()
    done: bool = False
    gave_values: bool = False
    asked_to_book: bool = False

    def take_steps(self, steps: Sequence[Step]) -> None:
        """What the agent's own calls returned."""
        for step in steps:
            for call, result in zip(step.calls, step.results, strict=False):
                domain = call.name.partition("_")[2]
                if domain in self.domains and isinstance(call.arguments, Mapping):
                    self.domains[domain].take(call, result, trusts_itself=self.trusts_itself)

    @property
    def current(self) -> DomainBelief | None:
        """The domain under discussion."""
        return self.domains[self.active] if self.active is not None else None
