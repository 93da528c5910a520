"""Writes conversations in CANDOR's layout, small enough to work out what must be read of them."""

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from drl.domains.candor.signals import FACES

ANN, BEN = "a" * 24, "b" * 24

Row = Sequence[object]


def turns(count: int = 14, seconds: float = 4.0, name: str = "was") -> list[Row]:
    """Ann and Ben in turns, of so many seconds each and one second apart; a word is the name."""
    step = seconds + 1
    return [
        (
            n,
            (ANN, BEN)[n % 2],
            n * step,
            n * step + seconds,
            f"Here is what {name} said as number {n}",
        )
        for n in range(count)
    ]


def face(name: str | None, certainty: float = 0.93) -> list[object]:
    """Eight probabilities with most on one class; empty without a face."""
    if name is None:
        return [""] * len(FACES)
    rest = (1 - certainty) / (len(FACES) - 1)
    return [certainty if other == name else rest for other in FACES]


def clock(second: float) -> str:
    minutes, rest = divmod(second, 60)
    hours, minutes = divmod(int(minutes), 60)
    return f"{hours:02d}:{minutes:02d}:{rest:02g}" if rest % 1 == 0 else str(second)


def faces(person: str, names: Iterable[str | None], start: int = 0) -> list[Row]:
    """A row a second."""
    return [(clock(start + n), person, *face(name)) for n, name in enumerate(names)]


def table(path: Path, header: Sequence[str], rows: Iterable[Row], encoding: str = "utf-8") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding=encoding, newline="") as file:
        csv.writer(file).writerows([header, *rows])


SIGNAL_COLUMNS = ("timedelta", "user_id", *(f"prob_face_{name}" for name in FACES))


def write(
    root: Path,
    name: str = "one",
    *,
    spoken: Iterable[Row] | None = None,
    scores: Mapping[str, object] | None = None,
    signals: Iterable[Row] | None = None,
    signal_columns: Sequence[str] = SIGNAL_COLUMNS,
    target: str = "overall_affect",
    flavour: str = "cliffhanger",
) -> Path:
    """A conversation with everything that is not said otherwise as it should be."""
    folder = root / name
    table(
        folder / "transcription" / f"transcript_{flavour}.csv",
        ("turn_id", "speaker", "start", "stop", "utterance"),
        turns(name=name) if spoken is None else spoken,
    )
    scores = {ANN: 7, BEN: 5} if scores is None else scores
    table(folder / "survey.csv", ("user_id", "convo_id", target), _answers(name, scores))
    if signals is None:
        signals = [*faces(ANN, ["neutral"] * 70), *faces(BEN, ["happiness"] * 70)]
    table(folder / "audio_video_features.csv", signal_columns, signals)
    (folder / "metadata.json").write_text(json.dumps({"id": name}))
    return folder


def _answers(name: str, scores: Mapping[str, object]) -> list[Row]:
    return [(person, name, score) for person, score in scores.items()]
