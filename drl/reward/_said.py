"""Which turns the agent has finished, and so can be rewarded for what it said."""

from drl.types import Role, Turn


def is_said(turn: Turn) -> bool:
    """Whether it is a turn of the agent that ends with words to the customer."""
    return (
        turn.role is Role.AGENT
        and turn.failure is None
        and bool(turn.steps)
        and turn.steps[-1].reply is not None
    )
