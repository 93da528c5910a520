"""The folder of a turn reward model: settings as JSON, weights as safetensors, and no pickles."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pydantic import TypeAdapter

from drl.errors import RunError
from drl.models.source import fingerprint
from drl.runtime.drafts import drafted_folder, is_there
from drl.runtime.run_dir import ADAPTER_OF_RUN
from drl.turn_reward.encoder import EncoderSettings
from drl.turn_reward.released_head import is_released_head
from drl.turn_reward.scaling import ScoreScaling
from drl.turn_reward.settings import HeadSettings
from drl.turn_reward.text_format import TextFormat
from drl.types import JSON

if TYPE_CHECKING:
    from drl.turn_reward.head import Params

_Settings = TypeVar("_Settings")

ABOUT = "turn_reward.json"
"""The settings of a model; a folder that has it holds one."""

_WEIGHTS = "turn_reward.safetensors"
_FORMAT = "turn_reward-1"


@dataclass(frozen=True, kw_only=True)
class ModelSettings:
    """All of a model but its weights. A relative `encoder.model` begins in the model's folder."""

    encoder: EncoderSettings
    text_format: TextFormat
    head: HeadSettings
    scaling: ScoreScaling


def model_folder(where: Path) -> Path:
    """The folder of the model that `where` names: itself, or that of a run.

    Raises:
        RunError: there is none, or it is a pickle.
    """
    for folder in (where, where / ADAPTER_OF_RUN):
        if is_there(folder) and (folder / ABOUT).is_file():
            return folder
    pickles = [where] if where.is_file() else sorted(where.glob("reward1_*"))
    for file in pickles:
        if is_released_head(file):
            raise RunError(
                f"{file}: is a pickle, which can run any code, so it is not loaded; convert it "
                f"with: drl convert-reward-head {file} --encoder ENCODER --out DIR"
            )
    raise RunError(
        f"{where}: holds no turn reward model ({ABOUT}); name a finished run of "
        "trainer=reward_model, or a folder that drl convert-reward-head wrote"
    )


def read_model(folder: Path) -> tuple[ModelSettings, Params]:
    """What a folder holds.

    Raises:
        RunError: it cannot be read, or is of another version of this code.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    settings = _read_settings(folder)
    try:
        return settings, load_file(folder / _WEIGHTS)
    except (OSError, SafetensorError) as error:
        raise _unreadable(folder / _WEIGHTS, error) from error


def write_model(folder: Path, settings: ModelSettings, params: Params) -> None:
    """Write a model, in place of one that is there.

    An encoder that lies beside the folder is named as seen from it: both may move together.

    Raises:
        RunError: it cannot be written.
    """
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    named = replace(settings.encoder, model=_seen_from(folder, settings.encoder.model))
    about = {"format": _FORMAT, **asdict(replace(settings, encoder=named))}
    weights = {name: weight.cpu().contiguous() for name, weight in params.items()}
    try:
        with drafted_folder(folder) as draft:
            save_file(weights, draft / _WEIGHTS)
            (draft / ABOUT).write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    except (OSError, SafetensorError) as error:
        raise RunError(
            f"{folder}: cannot be written ({error}); make room and start the same command again"
        ) from error


def model_version(where: Path) -> str:
    """A hash of a model and its encoder; neither is loaded for it.

    Raises:
        RunError: there is none, or it cannot be read.
        ConfigError: its encoder cannot be had.
    """
    folder = model_folder(where)
    encoder = _read_settings(folder).encoder
    digest = blake2b(fingerprint(encoder.folder(folder)).encode(), digest_size=8)
    for name in (ABOUT, _WEIGHTS):
        try:
            digest.update((folder / name).read_bytes())
        except OSError as error:
            raise _unreadable(folder / name, error) from error
    return digest.hexdigest()


def _read_settings(folder: Path) -> ModelSettings:
    file = folder / ABOUT
    try:
        about: Mapping[str, JSON] = json.loads(file.read_text(encoding="utf-8"))
        found = about["format"]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise _unreadable(file, error) from error
    if found != _FORMAT:
        raise RunError(f"{file}: is of version {found}, this code reads {_FORMAT}; make it again")
    try:
        return ModelSettings(
            encoder=_settings(EncoderSettings, about["encoder"]),
            text_format=_settings(TextFormat, about["text_format"]),
            head=_settings(HeadSettings, about["head"]),
            scaling=_settings(ScoreScaling, about["scaling"]),
        )
    except (ValueError, KeyError) as error:
        raise _unreadable(file, error) from error


def _settings(kind: type[_Settings], told: JSON) -> _Settings:
    """Settings whose values and types are checked, as of a config."""
    return TypeAdapter(kind).validate_json(json.dumps(told), strict=True)


def _seen_from(folder: Path, encoder: str) -> str:
    path = Path(encoder)
    if not path.is_dir():
        return encoder
    if path.resolve().is_relative_to(folder.resolve().parent):
        return os.path.relpath(path.resolve(), folder.resolve())
    return str(path.resolve())


def _unreadable(file: Path, error: Exception) -> RunError:
    cause = " ".join(str(error).split())
    return RunError(f"{file}: cannot be read ({cause}); make the model again with this code")
