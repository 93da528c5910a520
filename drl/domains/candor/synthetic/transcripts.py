"""The three transcripts of a conversation, and the recogniser's raw result behind them.

All three have the same rows, so that a turn has one number in each; the backbiter's columns tell
of acknowledgements that the listener gave meanwhile.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from drl.domains.candor.synthetic.faces import Heard
from drl.domains.candor.transcript import FLAVOURS

_COLUMNS: Final = (
    *("turn_id", "speaker", "start", "stop", "utterance", "interval", "delta", "questions"),
    *("end_question", "overlap", "n_words"),
)
_BACKCHANNELS: Final = (
    *("backchannel", "backchannel_count", "backchannel_speaker"),
    *("backchannel_start", "backchannel_stop"),
)
_SOUNDS: Final = ("mhm", "yeah", "right", "oh", "uh huh")


def write(
    folder: Path,
    heard: Heard,
    utterances: Sequence[str],
    user_ids: tuple[str, str],
    random: np.random.Generator,
) -> None:
    """Fill the folder `transcription`."""
    rows = _rows(heard, utterances, user_ids)
    for flavour in FLAVOURS:
        header, lines = _COLUMNS, rows
        if flavour == "backbiter":
            header = (*_COLUMNS, *_BACKCHANNELS)
            lines = [
                [*row, *_backchannel(float(start), float(stop), listener, random)]
                for row, (start, stop), listener in zip(
                    rows, heard.spans, (user_ids[1 - each] for each in heard.speakers), strict=True
                )
            ]
        path = folder / f"transcript_{flavour}.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(header)
            writer.writerows(lines)
    result = _recognised(folder.parent.name, heard, utterances)
    (folder / "transcribe_output.json").write_text(json.dumps(result) + "\n", encoding="utf-8")


def _rows(heard: Heard, utterances: Sequence[str], user_ids: tuple[str, str]) -> list[list[object]]:
    rows: list[list[object]] = []
    before = None
    for number, (text, (start, stop)) in enumerate(zip(utterances, heard.spans, strict=True)):
        gap = None if before is None else round(float(start) - before, 2)
        rows.append(
            [
                *(number, user_ids[heard.speakers[number]], float(start), float(stop), text),
                *("" if gap is None else gap, round(float(stop - start), 2), text.count("?")),
                *(text.endswith("?"), gap is not None and gap < 0, len(text.split())),
            ]
        )
        before = float(stop)
    return rows


def _backchannel(
    start: float, stop: float, listener: str, random: np.random.Generator
) -> list[object]:
    """One acknowledgement in every second turn or so, the more often the longer it is."""
    lasting = stop - start
    if lasting < 2 or random.random() > lasting / 10:
        return ["", 0, "", "", ""]
    sound = _SOUNDS[int(random.integers(len(_SOUNDS)))]
    at = round(start + float(random.uniform(0.5, lasting - 1)), 2)
    return [sound, 1, listener, at, round(at + 0.4, 2)]


def _recognised(name: str, heard: Heard, utterances: Sequence[str]) -> dict[str, object]:
    channels = [
        {
            "channel_label": f"ch_{channel}",
            "items": [],
            "segments": [
                {"start_time": str(start), "end_time": str(stop), "transcript": text}
                for speaker, (start, stop), text in zip(
                    heard.speakers, heard.spans.tolist(), utterances, strict=True
                )
                if speaker == channel
            ],
        }
        for channel in (0, 1)
    ]
    labels = {"channels": channels, "number_of_channels": 2}
    whole = [{"transcript": " ".join(utterances)}]
    results = {"transcripts": whole, "channel_labels": labels}
    return {"jobName": name, "status": "COMPLETED", "results": results}
