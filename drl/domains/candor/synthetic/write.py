"""Writes generated conversations in exactly CANDOR's layout, and the hidden rewards beside them.

<root>/<conversation>/...       as drl.domains.candor.files tells
<root>/hidden_rewards.csv       conversation_id,turn_id,reward: for evaluation, never training
<root>/manifest.json            the version and settings
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path
from typing import Final, cast

import numpy as np

from drl.domains.candor.files import HIDDEN_REWARDS, METADATA, SURVEY
from drl.domains.candor.signals import FILE as FEATURES
from drl.domains.candor.synthetic import features, scores, transcripts
from drl.domains.candor.synthetic.conversation import Conversation, hold
from drl.domains.candor.synthetic.people import meetings
from drl.domains.candor.synthetic.settings import Settings
from drl.errors import DataError
from drl.runtime.built_once import built_once, read_manifest, write_manifest
from drl.types import JSON

VERSION: Final = "candor_synthetic 1"
"""Rises when the same settings would give other files."""

_WHAT: Final = "generated conversations"
_REMEDY: Final = "choose another folder, or delete this one"
_START_MS: Final = 1_600_000_000_000
"""When the first conversation took place: in 2020, as CANDOR's did."""


def ensure(data_dir: Path, settings: Settings | None = None) -> Path:
    """The root of a generated set below `data_dir`, made if it is not there yet.

    Its name tells version and settings, so another set lies beside it. It appears in one rename,
    and processes that meet wait for each other. Without settings it is the standard set.

    Raises:
        DataError: it cannot be written.
    """
    chosen = settings or Settings()
    return generate(chosen, data_dir / "candor_synthetic" / _name(chosen))


def generate(
    settings: Settings, folder: Path, advance: Callable[[int], None] = lambda count: None
) -> Path:
    """The folder, filled with the conversations of these settings; as it is if it has them.

    `advance` is told how many more conversations are done.

    Raises:
        DataError: it holds something else, or cannot be written.
    """
    if not is_there(settings, folder) and folder.exists() and any(folder.iterdir()):
        raise DataError(f"{folder} holds other things than the wanted conversations; {_REMEDY}")

    def build(fresh: Path, _work: Path) -> None:
        _write_all(settings, fresh, advance)

    return built_once(folder, _WHAT, is_there=lambda: is_there(settings, folder), build=build)


def is_there(settings: Settings, folder: Path) -> bool:
    """Whether the folder holds the set of these settings, as this version makes it."""
    try:
        manifest = read_manifest(folder, VERSION, _WHAT, _REMEDY)
    except DataError:
        return False
    return manifest.get("settings") == _told(settings)


def _write_all(settings: Settings, folder: Path, advance: Callable[[int], None]) -> None:
    with (folder / HIDDEN_REWARDS).open("w", encoding="utf-8", newline="") as file:
        hidden = csv.writer(file, lineterminator="\n")
        hidden.writerow(["conversation_id", "turn_id", "reward"])
        for number, meeting in enumerate(meetings(settings)):
            random = np.random.default_rng([settings.seed, 1, number])
            held = hold(meeting, settings, random)
            _write_one(folder / meeting.id, number, held, settings, random)
            hidden.writerows(
                [meeting.id, turn, f"{reward:g}"] for turn, reward in enumerate(held.rewards)
            )
            advance(1)
    write_manifest(folder, VERSION, {"settings": _told(settings)})


def _write_one(
    folder: Path, number: int, held: Conversation, settings: Settings, random: np.random.Generator
) -> None:
    (folder / "transcription").mkdir(parents=True)
    first, second = held.people
    ids = (first.user_id, second.user_id)
    transcripts.write(folder / "transcription", held.heard, held.utterances, ids, random)
    features.write(folder / FEATURES, held.heard, held.people, settings, random)
    rows = [
        (
            rater,
            scores.answers(
                held.scored[held.heard.speakers == 1 - place], held.warmth, rater, settings, random
            ),
        )
        for place, rater in enumerate(held.people)
    ]
    scores.write(folder / SURVEY, held.meeting.id, rows)
    text = json.dumps(_metadata(number, held), indent=2)
    (folder / METADATA).write_text(text + "\n", encoding="utf-8")


def _metadata(number: int, held: Conversation) -> Mapping[str, JSON]:
    speakers: list[JSON] = [
        {"user_id": person.user_id, "channel": channel}
        for person, channel in zip(held.people, "LR", strict=True)
    ]
    name = held.meeting.id
    return {
        "id": name,
        "sessionId": blake2b(name.encode(), digest_size=8).hexdigest(),
        "createdAt": _START_MS + number * 3_600_000,
        "speakers": speakers,
        "files": [{"filename": f"{name}.mp4", "duration": held.heard.num_seconds}],
        "generator": VERSION,
    }


def _told(settings: Settings) -> dict[str, JSON]:
    return cast(dict[str, JSON], asdict(settings))


def _name(settings: Settings) -> str:
    text = json.dumps([VERSION, _told(settings)], sort_keys=True)
    digest = blake2b(text.encode(), digest_size=4).hexdigest()
    return f"{settings.conversations}_{settings.length}_{settings.signal}_{digest}"
