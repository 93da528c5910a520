"""What constructors of several groups check in the same way."""

from drl.errors import ConfigError


def check_positive(group: str, **settings: int) -> None:
    """Refuse any of these settings of a group below 1.

    Raises:
        ConfigError: with the dotted key.
    """
    for name, value in settings.items():
        if value < 1:
            raise ConfigError(f"{group}.{name}={value} must be at least 1; raise it")
