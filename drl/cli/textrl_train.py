"""`drl textrl-train`: TextRL 1.0's `textrl-train`, with its YAML files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def textrl_train(
    config: Annotated[
        Path, typer.Option("--config", help="A YAML file: algo, output_dir, model, dataset, ...")
    ],
) -> None:
    """Train with GRPO, RLOO, REINFORCE++, DPO and its kin, KTO, or a reward model, and save it.

    The keys are those of TextRL 1.0; examples/textrl/README.md lists them. Settings of TRL may
    stand among them; a key that neither knows is an error.
    """
    from drl.compat.textrl.programs import train

    print(f"The trained model is in {train(config)}")
