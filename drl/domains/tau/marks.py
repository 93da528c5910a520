"""The words by which agents and customers of tau-bench mark what they write."""

from typing import Final

STOP: Final = "###STOP###"
"""What a customer hangs up with."""

THOUGHT: Final = "Thought:"
ACTION: Final = "Action:"
"""Before what a ReAct or Act agent thinks, and before what it does."""

OUTPUT: Final = "API output: "
"""Before what a call of such an agent gave, which it reads as a message of the user."""

RESPOND: Final = "respond"
CONTENT: Final = "content"
"""The action that speaks to the customer, and its argument."""
