"""audio_video_features.csv: a row a second and person, about a hundred columns as in CANDOR.

Faces, gaze, speech activity, pitch and intensity mean something. The other columns are there
because real files have them: noise without any signal, drawn from a stock of ready-made cells, so
that half an hour is written in a fraction of a second.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from drl.domains.candor.signals import FACES
from drl.domains.candor.synthetic.faces import Heard, is_speaking, probabilities, reaction
from drl.domains.candor.synthetic.people import Person
from drl.domains.candor.synthetic.settings import Settings

_VOICE: Final = (
    *("loudness", "jitter", "shimmer", "hnr", "spectral_centroid", "spectral_flux"),
    *("spectral_rolloff", "spectral_slope", "zero_crossings", "alpha_ratio", "hammarberg"),
    *(f"mfcc_{number}" for number in range(1, 14)),
    *(f"delta_mfcc_{number}" for number in range(1, 14)),
    *("formant_1", "formant_2"),
)
_HEAD: Final = (
    *("face_x", "face_y", "face_width", "face_height", "head_pitch", "head_yaw", "head_roll"),
    *("nod", "shake", "eye_left_x", "eye_left_y", "eye_right_x", "eye_right_y", "blink"),
    *(f"au_{number:02}" for number in (1, 2, 4, 5, 6, 7, 9, 10, 12, 14, 15, 17, 20, 23, 25, 26)),
    *(f"landmark_{number}" for number in range(1, 18)),
)

COLUMNS: Final = (
    *("timedelta", "user_id", "is_speaking", "gaze_on", "pitch", "intensity"),
    *_VOICE,
    *(f"prob_face_{name}" for name in FACES),  # at 45 to 52, where one release has them
    *_HEAD,
)

_STOCK: Final = 256
"""So many ready-made stretches of cells without meaning, for either kind."""


def write(
    path: Path,
    heard: Heard,
    people: tuple[Person, Person],
    settings: Settings,
    random: np.random.Generator,
) -> None:
    """Write the file; rows of the two people alternate."""
    voices = [_cells(len(_VOICE), random) for _ in range(_STOCK)]
    heads = [_cells(len(_HEAD), random) for _ in range(_STOCK)]
    rows = [
        _rows(heard, number, person, settings, random, voices, heads)
        for number, person in enumerate(people)
    ]
    lines = [line for pair in zip(*rows, strict=True) for line in pair]
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"{','.join(COLUMNS)}\n")
        file.writelines(lines)


def _rows(
    heard: Heard,
    number: int,
    person: Person,
    settings: Settings,
    random: np.random.Generator,
    voices: list[str],
    heads: list[str],
) -> list[str]:
    size = heard.num_seconds
    talks = is_speaking(heard, number)
    faces = probabilities(heard, number, person, settings, random)
    # eyes leave the screen a little more often at what one does not like, and while one talks
    looks = random.random(size) < 0.82 + 0.08 * reaction(heard, number) - 0.15 * talks
    pitch = person.pitch * random.lognormal(0, 0.12, size)
    intensity = np.where(talks, random.normal(62, 4, size), random.normal(38, 3, size))
    stock = random.integers(_STOCK, size=(size, 2))
    lines: list[str] = []
    for second in range(size):
        voice = f"{pitch[second]:.0f},{intensity[second]:.0f},{voices[stock[second, 0]]}"
        if not talks[second]:
            voice = f",{intensity[second]:.0f}{',' * len(_VOICE)}"
        lines.append(
            f"{_clock(second)},{person.user_id},{talks[second]},{looks[second]},"
            f"{voice},{_face(faces[second])},{heads[stock[second, 1]]}\n"
        )
    return lines


def _face(face: NDArray[np.float64]) -> str:
    """Eight cells that add up to 1 exactly, three decimals each; empty ones without a face."""
    if np.isnan(face[0]):
        return "," * (len(FACES) - 1)
    parts = np.round(face * 1000).astype(int)
    parts[parts.argmax()] += 1000 - parts.sum()
    return ",".join("0" if part == 0 else f"{part / 1000:g}" for part in parts)


def _cells(number: int, random: np.random.Generator) -> str:
    return ",".join(f"{value:.1f}" for value in random.normal(0, 1, number))


def _clock(second: int) -> str:
    return f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"
