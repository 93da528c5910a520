"""`drl signals --text-only`: what a transcript tells of how turns were taken."""

import csv
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from signals.media_files import needs

from drl.cli.main import app
from drl.domains.candor import signals as candor_signals
from drl.domains.candor.alignment import dominant, windows
from drl.domains.candor.signals import FACES, FILE
from drl.domains.candor.transcript import Spoken
from drl.errors import ConfigError, DataError
from drl.signals.text_proxies import Proxies, Weights, proxies_of, score

TURNS = (
    ("bot", 0.0, 4.0, "Tell me about the trip to the lake that you took in June."),
    ("ann", 4.4, 6.0, "It was wonderful, I loved every minute of it!"),
    ("bot", 6.2, 6.6, "The flange."),  # holds no whole second
    ("ann", 9.9, 12.0, "Sorry? What do you mean?"),
    ("bot", 12.2, 15.0, "Please state your account number."),
    ("ann", 15.6, 18.0, "This is awful, I hate this terrible, useless conversation."),
    ("bot", 18.5, 21.0, "Your account number, please."),
)


def spoken(turns: tuple[tuple[str, float, float, str], ...]) -> list[Spoken]:
    return [
        Spoken(number, speaker, start, stop, text, len(text.split()), None)
        for number, (speaker, start, stop, text) in enumerate(turns)
    ]


def write_transcript(path: Path, turns: tuple[tuple[str, float, float, str], ...]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["turn_id", "speaker", "start", "stop", "utterance"])
        writer.writerows([number, *turn] for number, turn in enumerate(turns))
    return path


def no_tone(_: str) -> float:
    return 0.0


def test_turns_get_the_face_of_what_was_answered(tmp_path: Path):
    needs("vaderSentiment.vaderSentiment")
    transcript = write_transcript(tmp_path / "chat.csv", TURNS)
    app(["signals", str(transcript), "--text-only", "--out", str(tmp_path)], standalone_mode=False)
    ann = candor_signals.read(tmp_path / FILE, 1e9, Counter())["ann"]
    turns = [turn for turn in TURNS if turn[0] == "bot"]
    starts, stops = (np.array([turn[place] for turn in turns]) for place in (1, 2))
    faces = dominant(ann.faces, windows(ann.seconds, starts, stops, 0.0)).face
    # praise; a question back after a long pause; anger; hung up on
    assert [FACES[face] for face in faces] == ["happiness", "sadness", "sadness", "sadness"]
    known = ~np.isnan(ann.faces).any(axis=1)
    np.testing.assert_allclose(ann.faces[known].sum(axis=1), 1, atol=1e-4)
    own = (ann.seconds >= 4.4) & (ann.seconds <= 6)
    assert np.isnan(ann.faces[own]).all()
    assert (ann.measures["speaking"][own] == 1).all()
    about = json.loads((tmp_path / "signals.json").read_text())
    assert about["kind"] == "text proxies"
    assert about["warning"].startswith("No face was seen.")


def test_asking_again_counts_as_repair_and_a_plain_question_does_not():
    asked = ("Huh?", "Sorry, I didn't catch that", "You mean the bus?", "What did you say?")
    for reply in (*asked, "What do you do?", "I mean it."):
        found = proxies_of(spoken((("a", 0, 1, "I take the bus."), ("b", 2, 3, reply))), no_tone)
        assert found[0].repair == (reply in asked)


def test_slowness_is_measured_against_the_listeners_own_habit():
    # b answers after 1, 1 and 4 s: median 1, the deviations' median 0, so 0.2 s is the unit and
    # 3 units or more are 1; a answers after 2 s each time, which is no slowness for a
    at, turns = 0.0, []
    for number, gap in enumerate((0, 1, 2, 1, 2, 4)):
        turns.append(("ab"[number % 2], at + gap, at + gap + 1, "word"))
        at += gap + 1
    found = proxies_of(spoken(tuple(turns)), no_tone)
    assert [one.slowness for one in found] == pytest.approx([0, 0, 0, 0, 1, 0])
    assert [one.latency_s for one in found] == [1, 2, 1, 2, 4, None]


def test_saying_the_same_again_is_repetition():
    say = "I want to change my booking"
    turns = (("b", 0, 1, say), ("a", 2, 3, "Sure."), ("b", 4, 5, f"{say} now"), ("a", 6, 7, "Ok."))
    found = proxies_of(spoken(turns), no_tone)
    # 6 of 7 different words are common to both; "Ok." is too short to repeat anything
    assert [one.repetition for one in found] == pytest.approx([0, 6 / 7, 0, 0])


def test_a_goodbye_is_no_hanging_up():
    turns = (("a", 0, 1, "Anything else?"), ("b", 2, 3, "No, bye!"), ("a", 4, 5, "All right."))
    assert [one.hang_up for one in proxies_of(spoken(turns), no_tone)] == [0, 0, 0]
    rude = (*turns[:1], ("b", 2, 3, "No."), *turns[2:])
    assert [one.hang_up for one in proxies_of(spoken(rude), no_tone)] == [0, 0, 1]


def test_the_score_adds_up_and_stays_within_one():
    calm = {"slowness": 0.0, "repair": 0.0, "repetition": 0.0, "hang_up": 0.0}
    # 0.5 * 0.6 + 0.5 * 0.2 = 0.4
    good = Proxies(latency_s=None, tone=0.6, tone_shift=0.2, **calm)
    assert score(good, Weights()) == pytest.approx(0.4)
    bad = Proxies(
        latency_s=9.0, tone=-1, tone_shift=-1, slowness=1, repair=1, repetition=1, hang_up=1
    )
    assert score(bad, Weights()) == -1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "empty transcript"),
        ("speaker,utterance\na,hi\n", "has no start"),
        ("speaker,start,stop,utterance\na,0,1,hi\n", "has 1 speakers (a)"),
        ("speaker,start,stop,utterance\na,0,1,hi\nb,1,2,yo\nc,2,3,ho\n", "has 3 speakers"),
    ],
)
def test_a_transcript_that_cannot_be_used_is_refused(tmp_path: Path, content: str, message: str):
    path = tmp_path / "chat.csv"
    path.write_text(content)
    out = ["--text-only", "--out", str(tmp_path)]
    with pytest.raises(DataError) as caught:
        app(["signals", str(path), *out], standalone_mode=False)
    assert message in str(caught.value)
    assert not (tmp_path / FILE).exists()
    with pytest.raises(ConfigError, match="2 files; give the one transcript"):
        app(["signals", str(path), str(path), *out], standalone_mode=False)
