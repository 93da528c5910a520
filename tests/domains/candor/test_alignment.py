"""Faces and turns: which seconds belong to a turn, and what label they give."""

import math

import numpy as np
import pytest
from candor_recordings import face

from drl.domains.candor.alignment import LabelSettings, dominant, labels, means, windows
from drl.domains.candor.signals import FACES
from drl.errors import ConfigError

SAD, HAPPY, NEUTRAL, SURPRISED = (
    FACES.index(name) for name in ("sadness", "happiness", "neutral", "surprise")
)


def settings(**changed: object) -> LabelSettings:
    given = {"rule": "mode", "positive": 1.0, "neutral": 0.0, "negative": -1.0, "surprise": 0.25}
    given |= {"lag_s": 0.0, "min_words": 0, "otherwise": None}
    return LabelSettings(**given | changed)  # type: ignore[arg-type]


def seen(*names: str | None) -> np.ndarray:
    """A row a second, from second 0 on."""
    return np.array([[value or math.nan for value in face(name)] for name in names], np.float32)


def label(faces: np.ndarray, start: float, stop: float, **changed: object) -> float | None:
    """The label of a turn of ten words; None where there is none."""
    chosen = settings(**changed)
    seconds = np.arange(len(faces), dtype=float)
    turns = windows(seconds, np.array([start]), np.array([stop]), chosen.lag_s)
    value = float(labels(faces, turns, np.array([10]), chosen)[0])
    return None if math.isnan(value) else round(value, 4)


def test_a_turn_has_the_seconds_from_its_start_to_its_stop_both_included():
    seconds = np.array([0.0, 1.0, 2.0, 3.0])
    turns = windows(seconds, np.array([1.0, 2.1, 9.0]), np.array([2.0, 2.9, 9.5]), 0.0)
    assert list(zip(turns.first.tolist(), turns.end.tolist(), strict=True)) == [
        (1, 3),  # seconds 1 and 2
        (3, 3),  # none between 2.1 and 2.9
        (4, 4),
    ]


def test_the_face_of_most_seconds_gives_the_label():
    faces = seen("happiness", "sadness", "sadness", "surprise")
    assert label(faces, 0, 2) == -1.0
    assert label(faces, 0, 0) == 1.0
    assert label(faces, 3, 3) == 0.25


def test_of_faces_seen_equally_long_the_first_counts():
    faces = seen("neutral", "happiness", "sadness", "happiness", "sadness")
    assert label(faces, 1, 4) == 1.0
    assert label(faces, 2, 3) == -1.0


def test_seconds_without_a_face_do_not_count_and_a_turn_of_such_has_no_label():
    faces = seen(None, None, "happiness", None)
    assert label(faces, 0, 3) == 1.0
    assert label(faces, 0, 1) is None
    assert label(faces, 0, 1, otherwise=0.0) == 0.0


def test_a_lag_counts_what_the_face_shows_after_the_turn():
    faces = seen("neutral", "happiness", "happiness")
    assert label(faces, 0, 0) == 0.0
    assert label(faces, 0, 0, lag_s=2.0) == 1.0


def test_the_mean_rule_averages_over_seconds():
    faces = seen("happiness", "happiness", "sadness", "neutral", None)
    assert label(faces, 0, 4, rule="mean") == 0.25  # (1 + 1 - 1 + 0) / 4
    # with nothing but happiness worth anything it is the share of happy seconds, as in GELI
    assert label(faces, 0, 4, rule="mean", negative=0.0, surprise=0.0) == 0.5


def test_the_probability_rule_weighs_all_classes():
    faces = np.full((1, len(FACES)), 0.0, np.float32)
    faces[0, [HAPPY, SAD, SURPRISED, NEUTRAL]] = [0.5, 0.2, 0.2, 0.1]
    assert label(faces, 0, 0, rule="probability") == 0.35  # 0.5 - 0.2 + 0.2 * 0.25


def test_turns_of_too_few_words_get_what_is_set_for_them():
    turns = windows(np.arange(3.0), np.array([0.0, 1.0]), np.array([0.5, 1.5]), 0.0)
    faces = seen("happiness", "happiness", "happiness")
    chosen = settings(min_words=6, otherwise=0.0)
    assert labels(faces, turns, np.array([5, 6]), chosen).tolist() == [0.0, 1.0]


def test_all_turns_at_once_are_as_each_alone():
    random = np.random.default_rng(0)
    faces = seen(*random.choice([*FACES, None], 200))  # type: ignore[arg-type]
    starts = random.uniform(-5, 205, 60)
    stops = starts + random.uniform(0, 20, 60)
    turns = windows(np.arange(200.0), starts, stops, 1.0)
    at_once = dominant(faces, turns)
    for turn, (start, stop) in enumerate(zip(starts, stops, strict=True)):
        rows = [row for row in range(200) if start <= row <= stop + 1.0]
        shown = [int(faces[row].argmax()) for row in rows if not math.isnan(faces[row, 0])]
        most = max(shown, key=lambda one: (shown.count(one), -shown.index(one)), default=-1)
        assert at_once.face[turn] == most
        assert at_once.num_seen[turn] == len(shown)
        assert at_once.share[turn] == (shown.count(most) / len(shown) if shown else 0)


def test_without_any_row_nothing_is_known():
    none = np.zeros((0, len(FACES)), np.float32)
    turns = windows(np.zeros(0), np.array([0.0]), np.array([5.0]), 0.0)
    assert dominant(none, turns).face.tolist() == [-1]
    assert math.isnan(means(np.zeros(0), turns)[0])
    assert label(none, 0, 5) is None


@pytest.mark.parametrize(("name", "value"), [("lag_s", -1.0), ("min_words", -1)])
def test_labels_refuse_negative_settings(name, value):
    with pytest.raises(ConfigError, match=f"^{name}={value} must not be negative"):
        settings(**{name: value})
