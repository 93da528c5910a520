"""Dialogues that an agent is shown as examples, from a file as tau-bench ships it for few-shot.

Each line is a JSON object whose `messages_display` is one dialogue as text.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

from drl.errors import ConfigError
from drl.runtime.seeds import derive

_KEY = "messages_display"


def demonstrated(path: str, number: int, seed: int) -> str:
    """So many dialogues of a file, drawn by the seed and numbered as examples.

    Raises:
        ConfigError: the file cannot be read, a line is no demonstration, or there are too few.
    """
    displays = _read(path)
    if number > len(displays):
        raise ConfigError(
            f"agent.num_demonstrations={number} is more than {path} holds ({len(displays)}); "
            "lower it"
        )
    drawn = Random(derive(seed, "demonstrations")).sample(displays, number)
    return "\n\n".join(f"Example {place}:\n{text}" for place, text in enumerate(drawn, start=1))


def _read(path: str) -> list[str]:
    try:
        lines = Path(path).read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"agent.demonstrations={path} cannot be read ({error}); name a file with one JSON "
            f"object a line, as tau-bench has in few_shot_data"
        ) from error
    return [
        _display(line, f"{path}:{number}")
        for number, line in enumerate(lines, start=1)
        if line.strip()
    ]


def _display(line: str, where: str) -> str:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _no_demonstration(where, f"is not JSON ({error})") from error
    text = row.get(_KEY) if isinstance(row, dict) else None
    if not isinstance(text, str) or not text.strip():
        raise _no_demonstration(where, f"has no text under {_KEY}")
    return text


def _no_demonstration(where: str, fault: str) -> ConfigError:
    return ConfigError(
        f"agent.demonstrations: {where} {fault}; write one object a line, with a dialogue as text "
        f"under {_KEY}"
    )
