"""Conversations as they come: what is read of good ones, and what becomes of bad ones."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from candor_recordings import ANN, BEN, SIGNAL_COLUMNS, clock, face, faces, table, turns, write

from drl.domains.candor import files
from drl.domains.candor.clocks import ClockSettings
from drl.domains.candor.faults import Note, Reason, UnusableError
from drl.domains.candor.files import ReadSettings, Recording
from drl.errors import DataError


def read(folder: Path, **changed: object) -> Recording:
    clocks = ClockSettings(rule="keep", tolerance_s=1.0, search_s=30)
    given = {"target": "overall_affect", "flavour": "cliffhanger", "same_speaker": "merge"}
    given |= {"max_s": 7200.0, "clocks": clocks}
    return files.read(folder, ReadSettings(**given | changed), folder.parent / "cache")  # type: ignore[arg-type]


def reason(folder: Path, **changed: object) -> Reason:
    with pytest.raises(UnusableError) as raised:
        read(folder, **changed)
    return raised.value.reason


def test_a_conversation_is_read_with_all_that_belongs_to_it(tmp_path):
    recording = read(write(tmp_path))
    assert (recording.id, recording.speakers) == ("one", (ANN, BEN))
    assert recording.answers == {ANN: 7.0, BEN: 5.0}
    first, second = recording.turns[:2]
    assert (first.number, first.speaker, first.start, first.stop) == (0, ANN, 0.0, 4.0)
    assert (second.number, second.speaker, second.num_words) == (1, BEN, 8)
    assert recording.signals[BEN].seconds.tolist() == list(range(70))
    assert recording.signals[BEN].faces.shape == (70, 8)
    assert not recording.notes


@pytest.mark.parametrize("same_speaker", ["merge", "keep", "alternate"])
def test_rows_by_one_speaker_in_a_row(tmp_path, same_speaker):
    spoken = [(0, ANN, 0, 2, "One."), (1, ANN, 2, 5, "Two."), (2, BEN, 5, 6, "Three.")]
    recording = read(write(tmp_path, spoken=spoken), same_speaker=same_speaker)
    assert [(turn.number, turn.speaker, turn.text) for turn in recording.turns] == {
        "merge": [(0, ANN, "One. Two."), (2, BEN, "Three.")],
        "keep": [(0, ANN, "One."), (1, ANN, "Two."), (2, BEN, "Three.")],
        "alternate": [(0, ANN, "One."), (1, BEN, "Two."), (2, ANN, "Three.")],
    }[same_speaker]
    if same_speaker == "merge":
        assert (recording.turns[0].stop, recording.turns[0].num_words) == (5.0, 2)
        assert recording.notes == {Note.MERGED_TURNS: 1}


def test_backchannels_are_counted_where_the_transcript_takes_them_out(tmp_path):
    folder = write(tmp_path)
    header = ("turn_id", "speaker", "start", "stop", "utterance", "backchannel_count")
    rows = [(*row, "" if row[0] else 2) for row in turns(3)]
    table(folder / "transcription" / "transcript_backbiter.csv", header, rows)
    spoken = read(folder, flavour="backbiter").turns
    assert [turn.num_backchannels for turn in spoken] == [2, 0, 0]
    assert read(folder).turns[0].num_backchannels is None


@pytest.mark.parametrize(
    ("encoding", "is_noted"), [("utf-8-sig", False), ("utf-16", False), ("latin-1", True)]
)
def test_other_encodings_are_read(tmp_path, encoding, is_noted):
    folder = write(tmp_path)
    header = ("turn_id", "speaker", "start", "stop", "utterance")
    rows = [(0, ANN, 0, 1, "Déjà vu, señor?"), (1, BEN, 1, 2, "Ja.")]
    path = folder / "transcription" / "transcript_cliffhanger.csv"
    table(path, header, rows, encoding=encoding)
    recording = read(folder)
    assert recording.turns[0].text == "Déjà vu, señor?"
    assert (Note.OTHER_ENCODING in recording.notes) == is_noted


@pytest.mark.parametrize("separator", ["\t", ";"])
def test_other_separators_are_read(tmp_path, separator):
    folder = write(tmp_path)
    path = folder / "survey.csv"
    path.write_text(path.read_text().replace(",", separator))
    assert read(folder).answers == {ANN: 7.0, BEN: 5.0}


def _write_text(name: str, text: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_text(text) and None


HEADER = "speaker,start,stop,utterance"
TRANSCRIPT = "transcription/transcript_cliffhanger.csv"


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        (lambda folder: (folder / TRANSCRIPT).unlink(), Reason.NO_TRANSCRIPT),
        (_write_text(TRANSCRIPT, ""), Reason.EMPTY_TRANSCRIPT),
        (_write_text(TRANSCRIPT, f"{HEADER}\n"), Reason.EMPTY_TRANSCRIPT),
        (_write_text(TRANSCRIPT, "speaker,start,stop\na,1,2\n"), Reason.MISSING_COLUMN),
        (
            _write_text(TRANSCRIPT, f"{HEADER}\na,1,2,{'x' * 200_000}\n"),
            Reason.UNREADABLE,
        ),
        (
            _write_text(TRANSCRIPT, f"{HEADER}\na,1,2,x\n"),
            Reason.NOT_TWO_SPEAKERS,
        ),
        (lambda folder: (folder / "survey.csv").unlink(), Reason.NO_SURVEY),
        (_write_text("survey.csv", ""), Reason.EMPTY_SURVEY),
        (_write_text("survey.csv", "user_id,overall_affect\n"), Reason.EMPTY_SURVEY),
        (_write_text("survey.csv", f"user_id,i_like_you\n{ANN},3\n"), Reason.MISSING_COLUMN),
        (
            _write_text("survey.csv", f"user_id,overall_affect\n{ANN},3\n"),
            Reason.SPEAKER_NOT_IN_SURVEY,
        ),
    ],
)
def test_a_conversation_that_cannot_be_used_says_why(tmp_path, spoil, expected):
    folder = write(tmp_path)
    spoil(folder)
    assert reason(folder) == expected


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        (TRANSCRIPT, f"{HEADER},{'x' * 200_000}\na,1,2,x\n", "field larger than field limit"),
        (TRANSCRIPT, "\0" * 200_000, "it holds zeros"),
        (TRANSCRIPT, f"{HEADER}\na,1,2,x\n".encode("utf-16-le").decode(), "it holds zeros"),
        ("survey.csv", "x" * 200_000 + ",user_id\n", "field larger than field limit"),
        (
            TRANSCRIPT,
            "speaker;start;stop;utterance\na;0,5;1,5;Yes\nb;2,5;3,5;No\n",
            "transcript_cliffhanger.csv: turns whose times are missing, reversed or no seconds "
            "with a point, dropped (2)",
        ),
        ("survey.csv", f"user_id,overall_affect\n{ANN.upper()},3\n", f"user_id has {ANN.upper()}"),
    ],
)
def test_what_is_wrong_with_a_file_is_named(tmp_path, name, text, told):
    folder = write(tmp_path)
    (folder / name).write_text(text)
    with pytest.raises(UnusableError) as raised:
        read(folder)
    assert told in str(raised.value)


def test_a_header_of_signals_that_cannot_be_read_costs_the_signals_alone(tmp_path):
    folder = write(tmp_path)
    (folder / "audio_video_features.csv").write_text(f"timedelta,{'x' * 200_000}\n")
    assert read(folder).notes == {Note.NO_SIGNALS: 1}


def test_rows_that_commas_or_a_stray_quotation_mark_broke_are_dropped_and_counted(tmp_path):
    folder = write(tmp_path)
    (folder / TRANSCRIPT).write_text(
        f"{HEADER}\n"
        f"{ANN},0,1,Well, that is it\n"  # five fields: all behind the comma would be lost
        f"{BEN},1,2,Yes.\n"
        f'{ANN},2,3,"Now\n'  # its end is missing, so that
        f"{BEN},3,4,No.\n"
        f'{ANN},4,5,and "then"\n'  # reaches until here
        f'{BEN},5,6,"Two lines,\nin quotes."\n'
        f"{ANN},6,7,Done.,,\n"  # nothing is lost
    )
    recording = read(folder)
    texts = [turn.text for turn in recording.turns]
    assert texts == ["Yes. Two lines, in quotes.", "Done."]
    assert recording.notes[Note.LONG_ROWS] == 1
    assert recording.notes[Note.QUOTED_ROWS] == 1


@pytest.mark.parametrize("huge", ["1e300", "9" * 400, "-1e300", "1e18"])
def test_numbers_that_nothing_can_hold_are_taken_for_none(tmp_path, huge):
    folder = write(tmp_path)
    header = ("turn_id", "speaker", "start", "stop", "utterance", "n_words", "backchannel_count")
    rows = [(*row, huge, huge) for row in turns(4)]
    rows += [(huge, ANN, 20, 21, "x", "", ""), (5, ANN, 20, huge, "x", "", "")]
    table(folder / TRANSCRIPT, header, rows)
    signals = [(clock(0), ANN, *face("neutral")), (clock(1), ANN, *[huge] * 8)]
    signals += [(f"{huge} days 00:00:01", ANN, *face("neutral"))]
    signals += [(f"{huge}:00:01", ANN, *face("neutral"))]
    table(folder / "audio_video_features.csv", SIGNAL_COLUMNS, signals)
    recording = read(folder)
    assert [turn.num_words for turn in recording.turns] == [8] * 4
    assert recording.notes[Note.BAD_TURN_IDS] == 1
    assert recording.notes[Note.BAD_TIMES] == 1
    assert recording.signals[ANN].seconds.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("metadata", "named", "note"),
    [
        (None, "one", None),
        ('{"id": null}', "one", Note.NO_METADATA),
        ('{"id": " "}', "one", Note.NO_METADATA),
        ('{"id": []}', "one", Note.NO_METADATA),
        ("{", "one", Note.NO_METADATA),
        ('{"id": 7}', "7", Note.OTHER_ID),
    ],
)
def test_metadata_names_a_conversation_only_where_it_tells_an_id(tmp_path, metadata, named, note):
    folder = write(tmp_path)
    path = folder / "metadata.json"
    path.unlink() if metadata is None else path.write_text(metadata)
    recording = read(folder)
    assert recording.named == named
    assert recording.notes == ({} if note is None else {note: 1})


def test_bad_rows_of_a_transcript_are_dropped_and_counted(tmp_path):
    spoken = [
        (0, ANN, 0, 2, "One."),
        (1, BEN, 2, 3, "Two."),
        (1, BEN, 3, 4, "The same number again."),
        (2, ANN, "nan", 5, "Without a start."),
        (3, ANN, 5, 4, "Backwards."),
        ("x", ANN, 5, 6, "Without a number."),
        (5, ANN, 5, 6, "   "),
        (6, "", 5, 6, "By nobody."),
        (7, ANN),
        (),
        (9, BEN, 9, 10, "Four."),
        (8, ANN, 8, 9, "Three."),
    ]
    recording = read(write(tmp_path, spoken=spoken))
    assert [turn.text for turn in recording.turns] == ["One.", "Two.", "Three.", "Four."]
    assert recording.notes == {
        Note.DUPLICATE_TURN_IDS: 1,
        Note.BAD_TIMES: 2,
        Note.BAD_TURN_IDS: 1,
        Note.EMPTY_TURNS: 2,
        Note.SHORT_ROWS: 1,
        Note.UNORDERED_TURNS: 1,
    }


def test_what_starts_after_the_longest_time_is_cut(tmp_path):
    recording = read(write(tmp_path), max_s=20.0)
    # turns start every 5 s, so 0 to 4 are kept; seconds 0 to 20 of each person are
    assert [turn.number for turn in recording.turns] == [0, 1, 2, 3, 4]
    assert len(recording.signals[ANN].seconds) == 21
    assert recording.notes == {Note.CUT_TURNS: 9, Note.CUT_SIGNALS: 98}


def test_answers_that_are_no_numbers_are_none_and_the_first_of_several_counts(tmp_path):
    folder = write(tmp_path)
    rows = [(ANN, "c", "NaN"), (BEN, "c", "6"), (BEN, "c", "2"), ("", "c", "3")]
    table(folder / "survey.csv", ("user_id", "convo_id", "overall_affect"), rows)
    recording = read(folder)
    assert recording.answers == {ANN: None, BEN: 6.0}
    assert recording.notes == {Note.DUPLICATE_ANSWERS: 1}


def test_rows_of_signals_are_ordered_and_bad_ones_count_as_unseen(tmp_path):
    rows = [
        ("0 days 00:00:02.500000", ANN, *face("happiness")),
        ("00:00:01", ANN, *face("sadness")),
        (0, ANN, *face(None)),
        ("00:00:01", ANN, *face("neutral")),
        ("soon", ANN, *face("neutral")),
        (3, ANN, *["inf"] * 8),
        (4, ANN, *[*face("neutral")[:7], "x"]),
        (5, ANN, *[0] * 8),
        (6, BEN, *face("neutral")),
        (6, "c" * 24, *face("neutral")),
    ]
    recording = read(write(tmp_path, signals=rows))
    assert list(recording.signals) == [ANN, BEN]
    ann = recording.signals[ANN]
    assert ann.seconds.tolist() == [0, 1, 2.5, 3, 4, 5]
    assert np.isnan(ann.faces).all(axis=1).tolist() == [True, False, False, True, True, True]
    assert ann.faces[1].argmax() == 6  # of two rows for one second the first, sadness
    assert recording.notes == {
        Note.BAD_SIGNAL_TIMES: 1,
        Note.DUPLICATE_SECONDS: 1,
        Note.NO_FACE_ROWS: 4,
    }


def test_measures_besides_the_face_are_read_where_their_columns_exist(tmp_path):
    columns = (*SIGNAL_COLUMNS, "gaze_on", "is_speaking", "pitch_hz", "nods")
    rows = [
        (clock(0), ANN, *face("neutral"), "True", "False", "", "x"),
        (clock(1), ANN, *face("neutral"), "False", "True", 210.5, "x"),
        (clock(2), ANN, *face("neutral"), "", 1, "nan", "x"),
    ]
    measures = read(write(tmp_path, signals=rows, signal_columns=columns)).signals[ANN].measures
    assert list(measures) == ["gaze", "speaking", "pitch"]
    np.testing.assert_array_equal(measures["gaze"], [1, 0, np.nan])
    np.testing.assert_array_equal(measures["speaking"], [0, 1, 1])
    np.testing.assert_array_equal(measures["pitch"], [np.nan, 210.5, np.nan])


@pytest.mark.parametrize("content", ["", "timedelta,user_id\n00:00:01,a\n", None])
def test_signals_that_cannot_be_read_are_noted_and_missing(tmp_path, content):
    folder = write(tmp_path)
    path = folder / "audio_video_features.csv"
    path.unlink() if content is None else path.write_text(content)
    recording = read(folder)
    assert recording.signals == {}
    assert recording.notes == {Note.NO_SIGNALS: 1}


def test_large_signals_are_kept_in_binary_until_their_file_changes(tmp_path):
    many = [*faces(ANN, ["neutral"] * 500), *faces(BEN, ["sadness"] * 499), (1, BEN, *face(None))]
    folder = write(tmp_path, signals=many)
    first = read(folder)
    (kept,) = (tmp_path / "cache").iterdir()
    again = read(folder)
    assert again.notes == first.notes == {Note.DUPLICATE_SECONDS: 1}
    np.testing.assert_array_equal(again.signals[BEN].faces, first.signals[BEN].faces)

    kept.write_bytes(kept.read_bytes()[:1000])  # a damaged one is read anew
    assert read(folder).notes == first.notes

    write(tmp_path, signals=[*many, (501, ANN, *face("neutral"))])
    assert len(read(folder).signals[ANN].seconds) == 501


@pytest.mark.parametrize("text", ["", "[1]", "{}", "{not json"])
def test_metadata_is_not_needed(tmp_path, text):
    folder = write(tmp_path)
    (folder / "metadata.json").write_text(text)
    recording = read(folder)
    assert (recording.named, recording.notes) == ("one", {Note.NO_METADATA: 1})


def test_metadata_that_names_another_conversation_is_noted(tmp_path):
    folder = write(tmp_path)
    (folder / "metadata.json").write_text(json.dumps({"id": "another"}))
    recording = read(folder)
    assert (recording.id, recording.named) == ("one", "another")
    assert recording.notes == {Note.OTHER_ID: 1}


def test_a_root_without_conversations_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"is no folder; point dataset.root at"):
        files.folders(tmp_path / "nowhere")
    (tmp_path / "other").mkdir()
    with pytest.raises(DataError, match=r"none of its 1 folders has a survey.csv"):
        files.folders(tmp_path)
    write(tmp_path)
    assert [path.name for path in files.folders(tmp_path)] == ["one", "other"]


def test_what_was_kept_is_read_anew_where_any_byte_of_it_changed(tmp_path):
    many = [*faces(ANN, ["neutral"] * 500), *faces(BEN, ["sadness"] * 500)]
    folder = write(tmp_path, signals=many)
    first = read(folder)
    (kept,) = (tmp_path / "cache").iterdir()
    whole = kept.read_bytes()
    for place in [*range(0, len(whole), len(whole) // 150), len(whole) - 1]:
        kept.write_bytes(whole[:place] + bytes([whole[place] ^ 0x15]) + whole[place + 1 :])
        again = read(folder)
        assert again.notes == first.notes
        np.testing.assert_array_equal(again.signals[BEN].faces, first.signals[BEN].faces)
        np.testing.assert_array_equal(again.signals[BEN].seconds, first.signals[BEN].seconds)
