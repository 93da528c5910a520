"""The console that tables go to: as wide as the terminal, and in files and pipes as they need."""

from __future__ import annotations

import os
import sys

from rich.console import Console

_WIDE = 200
"""Columns where nothing says how many there are: no name in a table is cut."""


def table_console() -> Console:
    """A console of standard output."""
    is_told = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(highlight=False, width=None if is_told else _WIDE)
