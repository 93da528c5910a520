from random import Random

import pytest

from drl.labelling.cues import describe


@pytest.mark.parametrize(
    ("cues", "words"),
    [
        ({"face": "sadness", "face_share": 0.25}, "face shows sadness, 25% of the time"),
        ({"face": "neutral"}, "face shows neutral"),
        ({"gaze_share": 0.4}, "looks at the screen 40% of the time"),
        ({"pitch_z": 2.0}, "replies in a voice much higher than usual"),
        ({"pitch_z": -0.8}, "replies in a voice lower than usual"),
        ({"intensity_z": 0.1}, "replies neither louder nor softer than usual"),
        ({"intensity_z": -1.6}, "replies in a voice much softer than usual"),
        ({"backchannels": 1}, "1 short acknowledgement"),
        ({"backchannels": 0}, "0 short acknowledgements"),
        ({"reply_latency_s": 1.26}, "answers after 1.3 s"),
        ({"overlap_s": 0.5}, "talks over the last 0.5 s"),
        ({"overlap_s": 0.0}, "lets the turn end"),
        ({"sentiment_shift": -1}, "sentiment shift: -1"),
        ({"face": None, "gaze_share": None}, ""),
        ({}, ""),
    ],
)
def test_each_cue_has_words(cues: dict, words: str):
    assert describe(cues, None) == words


def test_cues_keep_their_order_unless_one_is_drawn():
    cues = {"gaze_share": 0.5, "backchannels": 2, "reply_latency_s": 1.0}
    plain = describe(cues, None).split("; ")
    assert [part.split()[0] for part in plain] == ["looks", "2", "answers"]
    assert sorted(describe(cues, Random(1)).split("; ")) == sorted(plain)
    assert describe(cues, Random(1)) == describe(cues, Random(1))
