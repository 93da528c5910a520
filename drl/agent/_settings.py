"""Checks that the settings of several agents share."""

from drl.errors import ConfigError


def check_positive(**settings: int) -> None:
    """Refuse any of these `agent.*` settings below 1."""
    for name, value in settings.items():
        if value < 1:
            raise ConfigError(f"agent.{name}={value} must be at least 1; raise it")
