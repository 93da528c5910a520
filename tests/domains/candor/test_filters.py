"""What is asked of a conversation and of a listener before anything is learned from them."""

from pathlib import Path

import pytest
from candor_recordings import ANN, BEN, faces, turns, write

from drl.domains.candor import files
from drl.domains.candor.clocks import ClockSettings
from drl.domains.candor.faults import Note, Reason, UnusableError
from drl.domains.candor.files import ReadSettings, Recording
from drl.domains.candor.filters import FilterSettings, check_conversation, check_face, score_of
from drl.errors import ConfigError

SCALE = (1.0, 9.0)


def read(folder: Path) -> Recording:
    clocks = ClockSettings(rule="keep", tolerance_s=1.0, search_s=30)
    settings = ReadSettings(
        target="overall_affect",
        flavour="cliffhanger",
        same_speaker="merge",
        max_s=7200.0,
        clocks=clocks,
    )
    return files.read(folder, settings, folder.parent / "cache")


def settings(**changed: object) -> FilterSettings:
    given = {"min_turns": 12, "need_score": "own", "need_face": True}
    return FilterSettings(**given | changed)  # type: ignore[arg-type]


def reason(check, *arguments: object) -> Reason:
    with pytest.raises(UnusableError) as raised:
        check(*arguments)
    return raised.value.reason


def test_short_conversations_are_refused(tmp_path):
    recording = read(write(tmp_path, spoken=turns(11)))
    assert reason(check_conversation, recording, settings()) == Reason.TOO_FEW_TURNS
    check_conversation(recording, settings(min_turns=11))


def test_a_score_is_needed_of_both_of_the_listener_or_of_nobody(tmp_path):
    recording = read(write(tmp_path, scores={ANN: "", BEN: 5}))
    assert reason(score_of, recording, BEN, SCALE, settings(need_score="both")) == Reason.NO_SCORE
    assert score_of(recording, BEN, SCALE, settings()) == 5.0
    assert reason(score_of, recording, ANN, SCALE, settings()) == Reason.NO_SCORE
    assert score_of(recording, ANN, SCALE, settings(need_score="none")) is None


def test_a_score_outside_the_scale_is_as_good_as_none(tmp_path):
    recording = read(write(tmp_path, scores={ANN: 10, BEN: 5}))
    outside = Reason.SCORE_OUTSIDE_SCALE
    assert reason(score_of, recording, ANN, SCALE, settings()) == outside
    assert score_of(recording, ANN, (0.0, 100.0), settings()) == 10.0
    assert score_of(recording, ANN, SCALE, settings(need_score="none")) is None
    assert recording.notes == {Note.SCORE_OUTSIDE_SCALE: 1}


def test_a_listener_must_have_been_seen(tmp_path):
    signals = [*faces(ANN, ["neutral"] * 9), *faces(BEN, [None] * 9)]
    recording = read(write(tmp_path, signals=signals))
    check_face(recording, ANN, settings())
    assert reason(check_face, recording, BEN, settings()) == Reason.NO_FACE
    check_face(recording, BEN, settings(need_face=False))


def test_a_conversation_needs_two_turns():
    with pytest.raises(ConfigError, match=r"^min_turns=1 must be at least 2"):
        settings(min_turns=1)
