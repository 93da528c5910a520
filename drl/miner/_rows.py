"""Rows from outputs of a harvest."""

from __future__ import annotations

from drl.miner._dialogues import Dialogues, Output
from drl.miner.base import DPORow, KTORow


def labelled(dialogues: Dialogues, output: Output, *, label: bool) -> KTORow:
    """An output after its exact prompt."""
    request = dialogues.request(output)
    return KTORow(
        prompt=request.messages,
        completion=dialogues.message(output),
        label=label,
        tools=request.tools,
        origin=dialogues.origin(output, step=output.position),
    )


def preferred(dialogues: Dialogues, better: Output, worse: Output, weight: float) -> DPORow:
    """Two outputs after the prompt that they share."""
    request = dialogues.request(better)
    return DPORow(
        prompt=request.messages,
        chosen=dialogues.message(better),
        rejected=dialogues.message(worse),
        weight=weight,
        tools=request.tools,
        origin=dialogues.origin(better, step=better.position),
        rejected_origin=dialogues.origin(worse, step=worse.position),
    )
