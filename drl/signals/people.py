"""Who is in which recording, as the command line says it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from drl.errors import ConfigError
from drl.signals.recording import Person

CHANNELS = ("left", "right")
_LONGEST_S = 86_400


def people_of(media: Sequence[Path], speaker: Sequence[str], start: Sequence[str]) -> list[Person]:
    """The people of one recording each, called by the file's name unless `speaker` says otherwise.

    Args:
        media: files; a single one holds two people where `speaker` names its channels.
        speaker: NAME=ID pairs, several may be joined by commas. NAME is a file's name without its
            ending, or left or right.
        start: NAME=SECONDS pairs, by file.

    Raises:
        ConfigError: a pair has another form or names no file, or two people have one id.
    """
    ids, starts = _pairs("--speaker", speaker), _pairs("--start", start)
    stems = [path.stem for path in media]
    by_channel = len(media) == 1 and any(name in CHANNELS for name in ids)
    _check("--speaker", ids, [*CHANNELS] if by_channel else stems)
    _check("--start", starts, stems)
    begun = {stem: _seconds(stem, starts.get(stem, "0")) for stem in stems}
    if by_channel:
        people = [
            Person(user_id=ids[name], path=media[0], channel=place, start_s=begun[stems[0]])
            for place, name in enumerate(CHANNELS)
            if name in ids
        ]
    else:
        people = [
            Person(user_id=ids.get(stem, stem), path=path, channel=None, start_s=begun[stem])
            for stem, path in zip(stems, media, strict=True)
        ]
    names = [person.user_id for person in people]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ConfigError(
            f"--speaker: {', '.join(twice)} is the id of two people; give each file a name or an "
            "id of its own"
        )
    return people


def _pairs(option: str, texts: Sequence[str]) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for text in ",".join(texts).split(",") if texts else []:
        name, _, value = (part.strip() for part in text.partition("="))
        if not name or not value:
            raise ConfigError(f"{option} {text}: is not NAME=VALUE; say it as left=ID or file=ID")
        if name in found:
            raise ConfigError(f"{option} {text}: {name} was named before; name it once")
        found[name] = value
    return found


def _check(option: str, pairs: Mapping[str, str], known: Sequence[str]) -> None:
    for name in pairs:
        if name not in known:
            raise ConfigError(
                f"{option} {name}=...: there is no such recording; known: {', '.join(known)}"
            )


def _seconds(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not abs(value) <= _LONGEST_S:  # NaN is not
        raise ConfigError(
            f"--start {name}={text}: is no number of seconds within a day; say it as {name}=1.5"
        )
    return value
