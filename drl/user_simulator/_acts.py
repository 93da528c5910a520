"""What a customer can do in a turn, before it is put into words."""

from dataclasses import dataclass
from enum import StrEnum


class Does(StrEnum):
    """The kinds of act."""

    OPEN = "open"
    """Name a domain to talk about."""
    INFORM = "inform"
    """Say what it should be."""
    CORRECT = "correct"
    """Say again what it should be, against an offer that is not."""
    CHANGE = "change"
    """Try the alternative because there is nothing of the first kind."""
    RECONSIDER = "reconsider"
    """Turn to the alternative although something of the first kind was offered."""
    RESTATE = "restate"
    """Say everything again."""
    ANY = "any"
    """Say that a slot does not matter."""
    REQUEST = "request"
    """Ask for a detail."""
    INSIST = "insist"
    """Ask for a detail again."""
    BOOK = "book"
    """Ask for a booking."""
    DETAIL = "detail"
    """A detail of the booking."""
    REBOOK = "rebook"
    """Try another booking because the first was refused."""
    RETRY = "retry"
    """Ask to try the same booking again."""
    REFERENCE = "reference"
    """Ask for the reference number."""
    NO_BOOKING = "no_booking"
    """Say that nothing needs to be booked."""
    NEVER_MIND = "never_mind"
    """Give up on a domain."""
    THANK = "thank"
    BYE = "bye"


@dataclass(frozen=True, slots=True)
class Act:
    """One act; `slot` and `value` where the kind has them."""

    does: Does
    domain: str
    slot: str = ""
    value: str = ""

    def __str__(self) -> str:
        """As the customer's private note says it."""
        value = f"={self.value}" if self.value else ""
        return f"{self.does} {self.slot}{value}" if self.slot else str(self.does)
