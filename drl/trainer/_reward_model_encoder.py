"""The encoder of a run: as it is, as another run trained it, or trained on labels here."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from drl.errors import ConfigError, RunError
from drl.runtime.drafts import drafted_folder, is_there
from drl.runtime.lines import LineFile
from drl.runtime.metrics import METRICS, add_metrics, keep_metrics
from drl.runtime.progress import progress_bar
from drl.runtime.run_dir import PROVENANCE
from drl.turn_reward.encoder import EncoderSettings, LoadedEncoder
from drl.turn_reward.head import Params

if TYPE_CHECKING:
    from drl.turn_reward.session import Session
    from drl.turn_reward.settings import HeadSettings, TuneSettings
    from drl.turn_reward.text_format import TextFormat

ENCODER = Path("checkpoints") / "encoder"
"""Where a run keeps the encoder that it trained, below its folder."""

_ABOUT = "tuned.json"
_HEAD = "tuned_head.safetensors"


class TunedEncoder(NamedTuple):
    """An encoder of a run, how it is used, and the head that learned with it.

    `num_epochs`: lines that its training took in `metrics.jsonl`.
    """

    settings: EncoderSettings
    params: Params
    num_epochs: int


def encoder_of(settings: EncoderSettings) -> EncoderSettings:
    """The settings, with the trained encoder of a run where `model` names a run folder.

    Raises:
        ConfigError: that run trained no encoder.
    """
    folder = Path(settings.model)
    if (folder / ENCODER / _ABOUT).is_file():
        return read_tuned(folder, settings).settings
    if (folder / PROVENANCE).is_file():
        raise ConfigError(
            f"trainer.encoder.model={folder} is a run that trained no encoder; name one of "
            "trainer=reward_model/li with trainer.tune set, or a model"
        )
    return settings


def read_tuned(run: Path, settings: EncoderSettings) -> TunedEncoder:
    """What a run's training of its encoder left.

    Raises:
        RunError: it cannot be read.
    """
    folder = run / ENCODER
    try:
        about = json.loads((folder / _ABOUT).read_text(encoding="utf-8"))
        used = replace(
            settings,
            model=str(folder),
            revision=None,
            pooling=about["pooling"],
            normalize=about["normalize"],
            max_length=about["max_length"],
        )
        return TunedEncoder(used, load_file(folder / _HEAD), about["num_epochs"])
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
        raise RunError(
            f"{folder}: cannot be read ({error}); remove it to train the encoder anew"
        ) from error


def tuned_encoder(
    run: Path,
    encoder: EncoderSettings,
    text_format: TextFormat,
    head: HeadSettings,
    settings: TuneSettings,
    sessions: Sequence[Session],
    seed: int,
) -> TunedEncoder:
    """The encoder trained on the labels of the training part; once, and kept in the run folder.

    Raises:
        DataError: no training turn has a label.
        ConfigError: the encoder cannot be trained as it is.
        RunError: the folder cannot be written.
    """
    from drl.turn_reward.tune import tune

    if is_there(run / ENCODER):
        return read_tuned(run, encoder)
    loaded = encoder.load()
    train, val = ([each for each in sessions if each.split == split] for split in ("train", "val"))
    keep_metrics(run / METRICS, 0)
    with (
        LineFile(run / METRICS) as lines,
        progress_bar("Training the encoder: epochs", settings.epochs) as bar,
    ):

        def tell(epoch: int, train_loss: float, val_loss: float) -> None:
            add_metrics(lines, epoch, {"encoder/train": train_loss, "encoder/val": val_loss})
            bar.advance()

        tuned = tune(loaded, text_format, head, settings, train, val, seed=seed, tell=tell)
    _write(run / ENCODER, loaded, tuned.params, settings.epochs)
    return read_tuned(run, encoder)


def _write(folder: Path, loaded: LoadedEncoder, params: Params, num_epochs: int) -> None:
    about = {
        "pooling": loaded.pooling,
        "normalize": loaded.normalize,
        "max_length": loaded.identity["max_length"],
        "num_epochs": num_epochs,
    }
    try:
        with drafted_folder(folder) as draft:
            loaded.save(draft)
            save_file({name: weight.contiguous() for name, weight in params.items()}, draft / _HEAD)
            (draft / _ABOUT).write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    except (OSError, SafetensorError) as error:
        raise RunError(
            f"{folder}: cannot be written ({error}); make room and start the same command again"
        ) from error
