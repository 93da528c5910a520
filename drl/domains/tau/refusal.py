"""What a tool answers when it does not do what it was asked to."""


class RefusedError(ValueError):
    """A tool's own refusal; its text is what the agent reads after "Error: "."""
