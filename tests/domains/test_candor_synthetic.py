"""Generated conversations: in CANDOR's layout, with the signals that they say they have."""

import csv
import itertools
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from drl.domains.candor import files
from drl.domains.candor.clocks import ClockSettings
from drl.domains.candor.faults import Note
from drl.domains.candor.files import HIDDEN_REWARDS, ReadSettings
from drl.domains.candor.signals import FACES
from drl.domains.candor.split import is_held_out
from drl.domains.candor.survey import SCALES
from drl.domains.candor.synthetic import scores
from drl.domains.candor.synthetic.conversation import hold
from drl.domains.candor.synthetic.people import meetings
from drl.domains.candor.synthetic.settings import Length, Settings, Signal
from drl.domains.candor.synthetic.write import ensure, generate
from drl.errors import ConfigError, DataError

SMALL = Settings(conversations=5)


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    return generate(SMALL, tmp_path_factory.mktemp("generated") / "set")


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def content(root: Path, name: str) -> list[bytes]:
    found = [path.read_bytes() for path in sorted(root.glob(f"*/{name}"))]
    assert len(found) == SMALL.conversations
    return found


def test_every_conversation_has_the_files_of_candor(root):
    folders = files.folders(root)
    assert len(folders) == 5
    for folder in folders:
        metadata = json.loads((folder / "metadata.json").read_text())
        assert metadata["id"] == folder.name
        assert [each["channel"] for each in metadata["speakers"]] == ["L", "R"]
        assert {path.name for path in (folder / "transcription").iterdir()} == {
            "transcript_cliffhanger.csv",
            "transcript_audiophile.csv",
            "transcript_backbiter.csv",
            "transcribe_output.json",
        }
        recognised = json.loads((folder / "transcription" / "transcribe_output.json").read_text())
        channels = recognised["results"]["channel_labels"]["channels"]
        assert [each["channel_label"] for each in channels] == ["ch_0", "ch_1"]


def test_turns_alternate_in_rising_time_and_their_columns_tell_of_them(root):
    for path in root.glob("*/transcription/transcript_cliffhanger.csv"):
        turns = rows(path)
        assert 24 <= len(turns) <= 40
        assert [int(turn["turn_id"]) for turn in turns] == list(range(len(turns)))
        assert turns[0]["interval"] == ""
        for before, turn in itertools.pairwise(turns):
            assert turn["speaker"] != before["speaker"]
            gap = float(turn["start"]) - float(before["stop"])
            assert float(turn["interval"]) == pytest.approx(gap, abs=0.011)
            assert turn["overlap"] == str(float(turn["interval"]) < 0)
            assert float(turn["start"]) > float(before["start"])
        for turn in turns:
            assert int(turn["n_words"]) == len(turn["utterance"].split()) > 0
            assert int(turn["questions"]) == turn["utterance"].count("?")
            assert turn["end_question"] == str(turn["utterance"].endswith("?"))


def test_faces_are_probabilities_a_second_and_one_in_twenty_is_missing(root):
    missing = total = 0
    for path in root.glob("*/audio_video_features.csv"):
        table = rows(path)
        columns = list(table[0])
        assert len(columns) == 100
        assert columns[:2] == ["timedelta", "user_id"]
        assert columns[45:53] == [f"prob_face_{name}" for name in FACES]
        seconds = Counter(row["user_id"] for row in table)
        assert len(seconds) == 2
        assert len(set(seconds.values())) == 1
        for row in table:
            face = [row[f"prob_face_{name}"] for name in FACES]
            total += 1
            if "" in face:
                missing += 1
                assert set(face) == {""}
            else:
                assert sum(map(float, face)) == pytest.approx(1, abs=1e-9)
    # 2,000 rows or so: their share has a standard error of 0.005
    assert missing / total == pytest.approx(0.05, abs=0.02)


def test_both_answer_every_question_within_its_scale(root):
    for path in root.glob("*/survey.csv"):
        answers = rows(path)
        assert len(answers) == 2
        for row in answers:
            assert row["convo_id"] == path.parent.name
            for target, (lowest, highest) in SCALES.items():
                assert lowest <= float(row[target]) <= highest
            assert {"pre_affect", "worst_arousal", "sex", "critical_positive"} <= set(row)


def test_the_loader_of_real_files_finds_nothing_amiss(root, tmp_path):
    clocks = ClockSettings(rule="shift", tolerance_s=1.0, search_s=60)
    for flavour in ("cliffhanger", "audiophile", "backbiter"):
        settings = ReadSettings(
            target="overall_affect",
            flavour=flavour,
            same_speaker="merge",
            max_s=7200,
            clocks=clocks,
        )
        for folder in files.folders(root):
            recording = files.read(folder, settings, tmp_path)
            assert set(recording.signals) == set(recording.speakers)
            assert {note for note, count in recording.notes.items() if count} <= {Note.NO_FACE_ROWS}


def test_each_turn_has_a_hidden_reward(root):
    hidden = rows(root / HIDDEN_REWARDS)
    assert list(hidden[0]) == ["conversation_id", "turn_id", "reward"]
    listed = Counter(row["conversation_id"] for row in hidden)
    for folder in files.folders(root):
        turns = rows(folder / "transcription" / "transcript_audiophile.csv")
        assert listed[folder.name] == len(turns)
    assert all(-1.5 <= float(row["reward"]) <= 1.5 for row in hidden)


def test_a_set_repeats_byte_by_byte_and_another_seed_gives_another(root, tmp_path):
    again = generate(SMALL, tmp_path / "again")
    for path in root.rglob("*.*"):
        assert (again / path.relative_to(root)).read_bytes() == path.read_bytes()
    other = generate(Settings(conversations=5, seed=1), tmp_path / "other")
    assert content(other, "survey.csv") != content(root, "survey.csv")


@pytest.mark.parametrize(
    ("signal", "changed"),
    [
        (Signal.NO_SCORES, "survey.csv"),
        (Signal.NO_FACES, "audio_video_features.csv"),
    ],
)
def test_a_signal_that_is_cut_changes_nothing_else(root, tmp_path, signal, changed):
    cut = generate(Settings(conversations=5, signal=signal), tmp_path / "cut")
    names = ["survey.csv", "audio_video_features.csv", "transcription/transcript_cliffhanger.csv"]
    for name in names:
        assert (content(cut, name) != content(root, name)) == (name == changed)
    assert (cut / HIDDEN_REWARDS).read_bytes() == (root / HIDDEN_REWARDS).read_bytes()


def test_words_without_a_signal_leave_the_hidden_rewards_as_they_were(root, tmp_path):
    cut = generate(Settings(conversations=5, signal=Signal.NO_TEXT), tmp_path / "cut")
    name = "transcription/transcript_cliffhanger.csv"
    assert content(cut, name) != content(root, name)
    assert (cut / HIDDEN_REWARDS).read_bytes() == (root / HIDDEN_REWARDS).read_bytes()


def test_a_set_is_made_once(tmp_path):
    made = ensure(tmp_path, SMALL)
    before = (made / HIDDEN_REWARDS).stat().st_mtime_ns
    assert ensure(tmp_path, SMALL) == made
    assert (made / HIDDEN_REWARDS).stat().st_mtime_ns == before
    assert ensure(tmp_path, Settings(conversations=4)) != made


def test_what_a_killed_run_left_is_no_set_and_is_made_anew(tmp_path):
    def killed(_count: int) -> None:
        raise KeyboardInterrupt

    folder = tmp_path / "set"
    with pytest.raises(KeyboardInterrupt):
        generate(SMALL, folder, killed)
    assert not folder.exists()
    done: list[int] = []
    generate(SMALL, folder, done.append)
    assert sum(done) == 5
    assert len(files.folders(folder)) == 5


def test_a_folder_with_other_things_is_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(DataError, match="holds other things than the wanted conversations"):
        generate(SMALL, tmp_path)
    assert (tmp_path / "thesis.txt").exists()


def test_too_few_conversations_and_an_empty_part_are_refused():
    with pytest.raises(ConfigError, match=r"conversations=3 is too few .* use at least 4"):
        Settings(conversations=3)
    with pytest.raises(ConfigError, match=r"held_out_share=1 must lie between 0 and 1"):
        Settings(held_out_share=1)


def test_a_split_by_the_share_in_the_settings_holds_out_those_with_words_of_their_own():
    settings = Settings()
    held = meetings(settings)
    assert len(held) == len({meeting.id for meeting in held}) == 200
    assert sum(meeting.held_out for meeting in held) == 40
    assert all(meeting.held_out == is_held_out(meeting.id, 0.2) for meeting in held)


def test_people_meet_others_and_some_of_those_held_out_are_known_from_training():
    held = meetings(Settings())
    pairs = [[person.user_id for person in meeting.people] for meeting in held]
    assert all(first != second for first, second in pairs)
    taken = Counter(name for pair in pairs for name in pair)
    assert 400 / len(taken) == pytest.approx(2.3, abs=0.1)
    out = {name for pair, each in zip(pairs, held, strict=True) if each.held_out for name in pair}
    kept = [pair for pair, each in zip(pairs, held, strict=True) if not each.held_out]
    dropped = sum(not out.isdisjoint(pair) for pair in kept)
    # 8 of 80 seats go to people who hold about 2 to 3 of the other seats
    assert 5 <= dropped <= 32


@pytest.mark.parametrize("conversations", [4, 8, 10])
def test_nobody_meets_themselves_even_where_there_are_hardly_others(conversations):
    for seed in range(10):
        held = meetings(Settings(conversations=conversations, seed=seed))
        assert len(held) == conversations
        assert all(first.user_id != second.user_id for first, second in (m.people for m in held))


@pytest.mark.slow
def test_long_conversations_are_as_long_as_those_of_candor():
    settings = Settings(conversations=20, length=Length.LONG)
    held = [
        hold(meeting, settings, np.random.default_rng(number))
        for number, meeting in enumerate(meetings(settings))
    ]
    turns = [len(each.utterances) for each in held]
    assert np.mean(turns) == pytest.approx(159, abs=20)  # three standard errors of 20 draws
    words = [len(text.split()) for each in held for text in each.utterances]
    assert 20 <= np.mean(words) <= 30
    assert np.mean([each.heard.num_seconds for each in held]) / 60 == pytest.approx(31, abs=7)


def correlation(signal: Signal) -> float:
    """Of true mean rewards with scores, over the sessions of 120 conversations."""
    settings = Settings(conversations=120, signal=signal)
    true: list[float] = []
    given: list[float] = []
    for number, meeting in enumerate(meetings(settings)):
        random = np.random.default_rng(number)
        held = hold(meeting, settings, random)
        for place, rater in enumerate(held.people):
            is_others = held.heard.speakers != place
            row = scores.answers(held.scored[is_others], held.warmth, rater, settings, random)
            true.append(float(held.rewards[is_others].mean()))
            given.append(float(row["overall_affect"]))
    return float(spearmanr(true, given).statistic)


@pytest.mark.slow
def test_scores_follow_the_hidden_rewards_as_far_as_people_are_consistent():
    # 240 sessions, the two of a conversation dependent: a standard error of 0.03 to 0.09
    assert 0.6 <= correlation(Signal.ALL) <= 0.8
    assert abs(correlation(Signal.NO_SCORES)) <= 0.2
    assert abs(correlation(Signal.NONE)) <= 0.2
