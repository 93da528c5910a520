"""Which seconds of a listener belong to which turn, and what they say of it.

All turns of a conversation are done at once from counts that add up along time: the work grows with
rows + turns, and never with their product.

Axes: S rows (seconds) of the listener, T turns, C classes of faces.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from drl.domains.candor.signals import FACES
from drl.errors import ConfigError

_NEGATIVE = ("anger", "contempt", "disgust", "fear", "sadness")


@dataclass(frozen=True, kw_only=True)
class LabelSettings:
    """How the face of a listener becomes the label of a turn.

    `rule`: mode takes the worth of the class that most seconds show (of equals the one seen first),
    mean the mean worth of the seconds' likeliest classes, probability the mean worth of all
    classes, weighted by their probabilities. The worths of happiness, of a neutral face, of the
    five negative classes and of surprise are `positive`, `neutral`, `negative` and `surprise`.
    A turn's seconds are those from its start to its stop and `lag_s` beyond, ends included. Turns
    of fewer than `min_words` words, or without a face, get `otherwise`; None: no label.
    """

    rule: Literal["mode", "mean", "probability"]
    positive: float
    neutral: float
    negative: float
    surprise: float
    lag_s: float
    min_words: int
    otherwise: float | None

    def __post_init__(self) -> None:
        """Check the settings."""
        if not self.lag_s >= 0:
            raise ConfigError(f"lag_s={self.lag_s} must not be negative; use 0")
        if self.min_words < 0:
            raise ConfigError(f"min_words={self.min_words} must not be negative; use 0")

    @property
    def worths(self) -> NDArray[np.float64]:
        """The worth of each class, float64 [C]."""
        by_class = dict.fromkeys(_NEGATIVE, self.negative)
        by_class |= {"happiness": self.positive, "neutral": self.neutral, "surprise": self.surprise}
        return np.array([by_class[name] for name in FACES])


class Windows(NamedTuple):
    """The rows of each turn: from `first` to before `end`, int [T] each."""

    first: NDArray[np.intp]
    end: NDArray[np.intp]


class Dominant(NamedTuple):
    """What a listener's face showed most, for each turn.

    `face` int [T], a place in FACES, or -1 without a face; `share` float [T], of the seconds with a
    face; `num_seen` int [T], seconds with a face.
    """

    face: NDArray[np.intp]
    share: NDArray[np.float64]
    num_seen: NDArray[np.intp]


def windows(
    seconds_S: NDArray[np.float64],
    starts_T: NDArray[np.float64],
    stops_T: NDArray[np.float64],
    lag_s: float,
) -> Windows:
    """The rows with start <= second <= stop + lag of each turn; seconds rise, turns need not."""
    first = np.searchsorted(seconds_S, starts_T, side="left")
    end = np.searchsorted(seconds_S, stops_T + lag_s, side="right")
    return Windows(first, np.maximum(first, end))


def dominant(faces_SC: NDArray[np.float32], turns: Windows) -> Dominant:
    """The class that most seconds of each turn show; of equals the one that was seen first."""
    shown_SC = _shown(faces_SC)
    counts_TC = _counts(shown_SC, turns)
    num_seen = counts_TC.sum(axis=1)
    most_T = counts_TC.max(axis=1, initial=0)
    # where each class is seen next, from each row on; the last row stands for never
    rows = np.arange(len(faces_SC))[:, None]
    never = len(faces_SC)
    next_SC = np.full((never + 1, len(FACES)), never)
    if never:
        seen_at = np.where(shown_SC, rows, never)
        next_SC[:-1] = np.minimum.accumulate(seen_at[::-1], axis=0)[::-1]
    first_TC = np.where(counts_TC == most_T[:, None], next_SC[turns.first], never + 1)
    face = np.where(num_seen > 0, first_TC.argmin(axis=1), -1)
    return Dominant(face, most_T / np.maximum(num_seen, 1), num_seen)


def labels(
    faces_SC: NDArray[np.float32],
    turns: Windows,
    num_words_T: NDArray[np.intp],
    settings: LabelSettings,
) -> NDArray[np.float64]:
    """The label of each turn, float64 [T]; NaN where there is none.

    Source: GELI (arXiv:2403.11330), local implicit feedback; mode as it was released, mean as its
    loader of whole conversations computes it. Averages of probabilities and the lag are ours.
    """
    if settings.rule == "mode":
        face = dominant(faces_SC, turns).face
        labels_T = np.where(face >= 0, settings.worths[face], np.nan)
    else:
        weights_SC = _shown(faces_SC) if settings.rule == "mean" else faces_SC
        labels_T = means(_worth(weights_SC, faces_SC, settings), turns)
    unknown = np.isnan(labels_T) | (num_words_T < settings.min_words)
    otherwise = np.nan if settings.otherwise is None else settings.otherwise
    return np.where(unknown, otherwise, labels_T)


def means(values_S: NDArray[np.floating], turns: Windows) -> NDArray[np.float64]:
    """The mean over the rows of each turn that hold a number, float64 [T]; NaN where none does."""
    known = ~np.isnan(values_S)
    sums = _sums(np.where(known, values_S, 0.0).astype(np.float64), turns)
    counts = _counts(known, turns)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _shown(faces_SC: NDArray[np.float32]) -> NDArray[np.bool_]:
    """The likeliest class of each row with a face, bool [S, C]."""
    no_face_S = np.isnan(faces_SC[:, 0])  # rows are complete or NaN throughout
    likeliest_S = np.where(no_face_S[:, None], 0.0, faces_SC).argmax(axis=1)
    return (likeliest_S[:, None] == np.arange(len(FACES))) & ~no_face_S[:, None]


def _worth(
    weights_SC: NDArray[np.bool_] | NDArray[np.float32],
    faces_SC: NDArray[np.float32],
    settings: LabelSettings,
) -> NDArray[np.float64]:
    """The worth of each row, float64 [S]; NaN without a face."""
    weights = weights_SC.astype(np.float64)
    worth_S = weights @ settings.worths / np.maximum(weights.sum(axis=1), 1e-12)
    return np.where(np.isnan(faces_SC[:, 0]), np.nan, worth_S)


def _counts(mask: NDArray[np.bool_], turns: Windows) -> NDArray[np.intp]:
    """How many rows of each turn are True, for each column: differences of a running count."""
    running = np.zeros((len(mask) + 1, *mask.shape[1:]), dtype=np.intp)
    np.cumsum(mask, axis=0, out=running[1:])
    return running[turns.end] - running[turns.first]


def _sums(values_S: NDArray[np.float64], turns: Windows) -> NDArray[np.float64]:
    """The sum over the rows of each turn: differences of a running sum."""
    running_S = np.concatenate([[0.0], np.cumsum(values_S)])
    return running_S[turns.end] - running_S[turns.first]
