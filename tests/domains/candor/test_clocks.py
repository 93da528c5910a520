"""Clocks of transcript and signals: how far apart they are, and what is done about it."""

import numpy as np
import pytest

from drl.domains.candor.clocks import ClockSettings, fitted, offset
from drl.domains.candor.faults import Note, Notes, Reason, UnusableError
from drl.domains.candor.signals import Signals
from drl.domains.candor.transcript import Spoken
from drl.errors import ConfigError


def settings(rule: str, tolerance_s: float = 1.0, search_s: int = 30) -> ClockSettings:
    return ClockSettings(rule=rule, tolerance_s=tolerance_s, search_s=search_s)  # type: ignore[arg-type]


def conversation() -> list[Spoken]:
    """Turns of all kinds of lengths, one second apart."""
    lengths = np.random.default_rng(0).integers(2, 15, 30)
    stops = np.cumsum(lengths + 1)
    return [
        Spoken(n, "ab"[n % 2], float(stop - length), float(stop), "Text.", 1, None)
        for n, (length, stop) in enumerate(zip(lengths, stops - 1, strict=True))
    ]


def heard(spoken: list[Spoken], late_s: float = 0.0) -> dict[str, Signals]:
    """Who speaks in each second, by a clock that is this late."""
    found = {}
    for person in "ab":
        seconds = np.arange(0.5, spoken[-1].stop)
        speaks = [
            any(t.start <= second <= t.stop for t in spoken if t.speaker == person)
            for second in seconds
        ]
        faces = np.full((len(seconds), 8), 1 / 8, np.float32)
        measures = {"speaking": np.array(speaks, np.float32)}
        found[person] = Signals(seconds + late_s, faces, measures)
    return found


@pytest.mark.parametrize("late", [0, 1, -7, 30])
def test_the_offset_is_what_makes_speakers_fit(late):
    spoken = conversation()
    assert offset(heard(spoken, late), spoken, 30) == (-late, True)


def test_nothing_is_known_without_who_speaks_or_where_nothing_fits():
    spoken = conversation()
    mute = {name: Signals(of.seconds, of.faces, {}) for name, of in heard(spoken).items()}
    assert offset(mute, spoken, 30) == (0, False)
    silent = heard(spoken)
    for of in silent.values():
        of.measures["speaking"][:] = 0
    assert offset(silent, spoken, 30) == (0, False)


def test_differences_are_shifted_skipped_or_kept():
    spoken, notes = conversation(), Notes()
    late = heard(spoken, 12)
    shifted = fitted(late, spoken, settings("shift"), notes)
    assert shifted["a"].seconds[0] == 0.5
    assert notes == {Note.CLOCKS_SHIFTED: 1}
    assert fitted(late, spoken, settings("keep"), notes) is late
    with pytest.raises(UnusableError) as raised:
        fitted(late, spoken, settings("skip"), notes)
    assert (raised.value.reason, raised.value.where) == (Reason.CLOCKS_APART, "by -12 s")
    assert fitted(late, spoken, settings("skip", tolerance_s=12), notes) is late


def test_signals_of_less_than_half_the_conversation_are_refused():
    spoken, notes = conversation(), Notes()
    half = spoken[-1].stop / 2
    mute = {name: Signals(of.seconds, of.faces, {}) for name, of in heard(spoken, half + 5).items()}
    with pytest.raises(UnusableError, match="clocks of transcript and signals apart: turns from"):
        fitted(mute, spoken, settings("shift"), notes)
    assert notes == {Note.CLOCKS_UNKNOWN: 1}


def test_settings_are_checked():
    with pytest.raises(ConfigError, match=r"^tolerance_s=-1 must not be negative"):
        settings("shift", tolerance_s=-1)
    with pytest.raises(ConfigError, match=r"^search_s=0 must be at least 1"):
        settings("shift", search_s=0)
