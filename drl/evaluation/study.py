"""A blinded study: which answer is whose is known to the key alone.

What raters get holds answers under letters that are drawn for each item; even who reads the form's
source cannot tell whose they are. The order on the screen is drawn apart, for each rater.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from random import Random
from string import ascii_lowercase

from pydantic import BaseModel, ConfigDict, ValidationError

from drl.errors import ConfigError, DataError, RunError
from drl.evaluation.study_samples import PairedSample
from drl.runtime.seeds import derive
from drl.types import JSON

FORM = "form.html"
KEY = "key.json"
RESULTS = "results.json"
TIE = "tie"
"""The choice of no candidate."""


class Item(BaseModel):
    """What an item of the form is: the sample's id, and whose answer each letter stands for.

    `conversation` is that of the sample; None: its own.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    conversation: str | None = None
    candidates: Mapping[str, str]


class Key(BaseModel):
    """What is needed to read the answers; raters must not see it. Items by their name on the form.

    Raters are called 1 to `num_raters`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    form: str
    seed: int
    num_raters: int
    candidates: Sequence[str]
    criteria: Mapping[str, str]
    items: Mapping[str, Item]


def blind(
    samples: Sequence[PairedSample],
    criteria: Mapping[str, str],
    *,
    num_raters: int,
    num_items: int | None,
    seed: int,
) -> tuple[Key, Mapping[str, JSON]]:
    """A key, and what the form shows. The same arguments give the same ones.

    Args:
        num_items: draws so many of the samples; None takes all.

    Raises:
        ConfigError: there are fewer samples than asked for, or nobody or nothing to ask.
    """
    if num_raters < 1:
        raise ConfigError(f"--raters={num_raters} must be at least 1; say who judges")
    if num_items is not None and not 1 <= num_items <= len(samples):
        raise ConfigError(
            f"--items={num_items} must be from 1 to {len(samples)}, the number of samples"
        )
    drawn = Random(derive(seed, "items")).sample(samples, num_items or len(samples))
    names = list(samples[0].candidates)
    if len(names) > len(ascii_lowercase):
        raise ConfigError(f"{len(names)} candidates are more than anyone can judge; give fewer")
    items: dict[str, Item] = {}
    shown: list[JSON] = []
    for number, sample in enumerate(drawn, start=1):
        hidden = Random(derive(seed, "letters", sample.id)).sample(names, len(names))
        letters = dict(zip(ascii_lowercase, hidden, strict=False))
        items[str(number)] = Item(
            id=sample.id, conversation=sample.conversation, candidates=letters
        )
        shown.append(_shown(str(number), sample, letters))
    page: dict[str, JSON] = {"criteria": dict(criteria), "raters": num_raters, "items": shown}
    # the seed too: another one gives other letters
    content = json.dumps([page, seed], sort_keys=True).encode()
    page["form"] = blake2b(content, digest_size=6).hexdigest()
    key = Key(
        form=str(page["form"]),
        seed=seed,
        num_raters=num_raters,
        candidates=names,
        criteria=criteria,
        items=items,
    )
    return key, page


def write_key(folder: Path, key: Key) -> None:
    """Write the key of a study.

    Raises:
        RunError: the folder holds a study already, or cannot be written.
    """
    path = folder / KEY
    if path.exists():
        raise RunError(
            f"{path} is there already, and its answers can be read with it alone; choose another "
            "--out"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(key.model_dump_json(indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise RunError(f"{path}: cannot be written ({error}); choose another --out") from error


def read_key(folder: Path) -> Key:
    """The key of the study in a folder.

    Raises:
        DataError: there is none, or it is damaged.
    """
    path = folder / KEY
    try:
        return Key.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise DataError(
            f"{path}: cannot be read as the key of a study ({type(error).__name__}); give the "
            "folder that drl study --out wrote"
        ) from error


def _shown(number: str, sample: PairedSample, letters: Mapping[str, str]) -> JSON:
    """An item as raters see it."""
    return {
        "item": number,
        "context": [message.model_dump() for message in sample.context],
        "candidates": {letter: sample.candidates[name] for letter, name in letters.items()},
    }
