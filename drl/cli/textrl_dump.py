"""`drl textrl-dump`: what an agent of TextRL learned and its model, as a plain checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def textrl_dump(
    model: Annotated[
        str, typer.Option("--model", help="The model it was trained from: id or folder.")
    ],
    rl: Annotated[Path, typer.Option("--rl", help="A folder that agent.save wrote, say OUT/best.")],
    dump: Annotated[Path, typer.Option("--dump", "--dumpdir", help="The folder to write.")],
) -> None:
    """Write a checkpoint that writes as the trained agent does, for from_pretrained(DIR).

    Output layer, unfrozen blocks or a merged adapter are in it; the critic is not. It is loaded
    again and held against the trained model before it appears in DIR.
    """
    import json
    from dataclasses import asdict

    from drl.ppo.standalone import write_standalone

    done = write_standalone(model, rl, dump)
    print(json.dumps(asdict(done) | {"folder": str(done.folder)}))
