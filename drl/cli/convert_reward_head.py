"""`drl convert-reward-head`: the pickled head that GELI's authors released, as a model of ours."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from drl.errors import ConfigError


class _Stage(StrEnum):
    GELI_TRAINING = "geli_training"
    GELI_VALIDATION = "geli_validation"
    LI_TRAINING = "li_training"
    RL_SCORING = "rl_scoring"


def convert_reward_head(
    file: Annotated[Path, typer.Argument(help="The released file, reward1_*.")],
    encoder: Annotated[
        str,
        typer.Option(
            help="The encoder that the head was trained on: a folder with safetensors, or an id."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="The folder to write.")],
    text_format: Annotated[
        _Stage, typer.Option(help="As which stage of the released code turns are written down.")
    ] = _Stage.GELI_TRAINING,
    force: Annotated[bool, typer.Option("--force", help="Replace another model.")] = False,
) -> None:
    """Write a model for reward=turn_model and drl score; nothing in the pickle is run.

    The head is of no use without the encoder that was trained before it, which is not in the file.
    """
    from drl.turn_reward.model_folder import ABOUT
    from drl.turn_reward.released_head import released_model

    if out.exists() and not (force and (out / ABOUT).is_file()):
        remedy = "add --force to replace it" if (out / ABOUT).is_file() else "name a new folder"
        raise ConfigError(f"--out {out}: is there already; {remedy}")
    model = released_model(file, encoder, text_format.value)
    model.save(out)
    print(
        f"warning: {file} holds a head alone. Its rewards mean something only with the encoder "
        "that its authors had trained on listeners' faces (LI) before it, the folder lang_model_* "
        f"of that run; {encoder} is taken for it. With any other encoder, also the one that theirs "
        "began from, rewards are noise.",
        file=sys.stderr,
    )
    print(json.dumps({"folder": str(out), "head": str(file), "encoder": encoder}))
