"""What constructors of several groups check in the same way.

A group is the dotted place of the settings in a config. None: whoever builds the object knows it,
and puts it before the message (`drl.runtime.config.build`).
"""

from drl.errors import ConfigError


def check_positive(group: str | None, **settings: int) -> None:
    """Refuse any of these settings of a group below 1.

    Raises:
        ConfigError: with the dotted key.
    """
    for name, value in settings.items():
        if value < 1:
            raise ConfigError(f"{_key(group, name)}={value} must be at least 1; raise it")


def check_above_zero(group: str | None, **settings: float | None) -> None:
    """Refuse any of these settings that is 0, negative or no number; None leaves it out.

    Raises:
        ConfigError: with the dotted key.
    """
    for name, value in settings.items():
        if value is not None and not value > 0:
            raise ConfigError(f"{_key(group, name)}={value} must be above 0; raise it")


def check_not_negative(group: str | None, **settings: float) -> None:
    """Refuse any of these settings below 0, or that is no number.

    Raises:
        ConfigError: with the dotted key.
    """
    for name, value in settings.items():
        if not value >= 0:
            raise ConfigError(f"{_key(group, name)}={value} must not be negative; use 0")


def _key(group: str | None, name: str) -> str:
    return name if group is None else f"{group}.{name}"
