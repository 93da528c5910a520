"""Whether transcript and signals of a conversation tell the same time.

Signals say second by second who speaks, and so does a transcript. Shifting one against the other
shows by how much their clocks differ.

Axes: S rows (seconds) of one person, T turns of that person.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from drl.domains.candor.faults import Note, Notes, Reason, UnusableError
from drl.domains.candor.signals import Signals
from drl.domains.candor.transcript import Spoken
from drl.errors import ConfigError

_CLEARLY: Final = 0.1
"""A shift must raise the correlation by so much before it is believed."""
_AT_LEAST: Final = 0.2
"""Correlations below this tell nothing about clocks."""
_FEWEST_ROWS: Final = 30


@dataclass(frozen=True, kw_only=True)
class ClockSettings:
    """What is done about clocks that differ, by whole seconds and up to `search_s` either way.

    keep: nothing is done. shift: the signals are moved to fit the transcript. skip: a conversation
    whose clocks differ by more than `tolerance_s` is left out. Under shift and skip it is also left
    out where less than half of the transcript's span has signals at all.
    """

    rule: Literal["keep", "shift", "skip"]
    tolerance_s: float
    search_s: int

    def __post_init__(self) -> None:
        """Check the settings."""
        if not self.tolerance_s >= 0:
            raise ConfigError(f"tolerance_s={self.tolerance_s} must not be negative; use 0")
        if self.search_s < 1:
            raise ConfigError(f"search_s={self.search_s} must be at least 1; use rule=keep instead")


class Offset(NamedTuple):
    """Add `seconds` to the signals to make them fit; `is_known` says whether that could be told."""

    seconds: int
    is_known: bool


def fitted(
    signals: Mapping[str, Signals], spoken: Sequence[Spoken], settings: ClockSettings, notes: Notes
) -> Mapping[str, Signals]:
    """The signals as `settings` want them.

    Raises:
        UnusableError: the clocks are too far apart to be used.
    """
    if settings.rule == "keep" or not signals:
        return signals
    found = offset(signals, spoken, settings.search_s)
    if not found.is_known:
        notes[Note.CLOCKS_UNKNOWN] += 1
    elif abs(found.seconds) > settings.tolerance_s:
        if settings.rule == "skip":
            raise UnusableError(Reason.CLOCKS_APART, f"by {found.seconds} s")
        notes[Note.CLOCKS_SHIFTED] += 1
        signals = {
            person: Signals(of.seconds + found.seconds, of.faces, of.measures)
            for person, of in signals.items()
        }
    start, stop = min(turn.start for turn in spoken), max(turn.stop for turn in spoken)
    seconds = np.concatenate([of.seconds for of in signals.values()])
    inside = min(stop, seconds.max()) - max(start, seconds.min())
    if inside < (stop - start) / 2:
        raise UnusableError(
            Reason.CLOCKS_APART,
            f"turns from {start:.0f} to {stop:.0f} s, signals from {seconds.min():.0f} to "
            f"{seconds.max():.0f} s",
        )
    return signals


def offset(signals: Mapping[str, Signals], spoken: Sequence[Spoken], search_s: int) -> Offset:
    """The shift under which the signals' and the transcript's speakers correlate best.

    It is 0 unless another one is clearly better than none.
    """
    pairs = []
    for person, of in signals.items():
        turns = [turn for turn in spoken if turn.speaker == person]
        if turns and "speaking" in of.measures:
            known = ~np.isnan(of.measures["speaking"])
            flags = of.measures["speaking"][known] > 0.5
            pairs.append((of.seconds[known], flags, _spans(turns)))
    if not pairs or sum(len(seconds) for seconds, _, _ in pairs) < _FEWEST_ROWS:
        return Offset(0, False)
    flags = np.concatenate([flags for _, flags, _ in pairs])

    def fit(shift: int) -> float:
        inside = [_inside(seconds + shift, spans) for seconds, _, spans in pairs]
        return _correlation(flags, np.concatenate(inside))

    unshifted = fit(0)
    if unshifted + _CLEARLY >= 1:  # nothing can be clearly better
        return Offset(0, True)
    shifts = sorted(range(-search_s, search_s + 1), key=abs)
    best = max(shifts, key=fit)
    if fit(best) < _AT_LEAST:
        return Offset(0, False)
    return Offset(best if fit(best) > unshifted + _CLEARLY else 0, True)


class _Spans(NamedTuple):
    starts: NDArray[np.float64]
    stops: NDArray[np.float64]


def _spans(turns: Sequence[Spoken]) -> _Spans:
    starts = np.sort(np.array([turn.start for turn in turns]))
    return _Spans(starts, np.sort(np.array([turn.stop for turn in turns])))


def _inside(seconds: NDArray[np.float64], spans: _Spans) -> NDArray[np.bool_]:
    """Whether more spans have begun than ended, bool [S]."""
    begun = np.searchsorted(spans.starts, seconds, side="right")
    return begun > np.searchsorted(spans.stops, seconds, side="left")


def _correlation(left: NDArray[np.bool_], right: NDArray[np.bool_]) -> float:
    """Pearson's, of two masks; 0 where one of them never changes."""
    share_left, share_right = left.mean(), right.mean()
    spread = share_left * (1 - share_left) * share_right * (1 - share_right)
    if not spread:
        return 0.0
    return float(((left & right).mean() - share_left * share_right) / np.sqrt(spread))
