"""CANDOR as sessions to learn turn rewards from, and as contexts in which an agent speaks next."""

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from candor_recordings import ANN, BEN, SIGNAL_COLUMNS, face, faces, turns, write

from drl.dataset.candor import CandorDataset
from drl.errors import ConfigError, DataError
from drl.runtime.compose import compose
from drl.runtime.config import build, to_plain
from drl.turn_reward.session import Session
from drl.types import Role

CONF = Path(__file__).parents[2] / "conf"


@pytest.fixture
def dataset(tmp_path):
    """A data set of the conversations below `root`, with these overrides."""

    def built(*overrides: str, option: str = "candor", name: str = "root") -> CandorDataset:
        places = [f"dataset.root={tmp_path / name}", f"data_dir={tmp_path / 'data'}"]
        config = compose(CONF, [f"dataset={option}", *places, *overrides])
        made = build("dataset", to_plain(config)["dataset"])
        assert isinstance(made, CandorDataset)
        return made

    return built


@pytest.fixture
def root(tmp_path):
    return tmp_path / "root"


ALL_TRAIN = ("dataset.division.test_share=0.0", "dataset.division.val_share=0.0")


def labels(session: Session) -> list[float | None]:
    return [turn.reaction.label for turn in session.turns if turn.reaction is not None]


def by_name(sessions: Sequence[Session]) -> dict[str, Session]:
    return {session.id: session for session in sessions}


def test_each_listeners_score_and_face_credit_the_other_speakers_turns(dataset, root):
    # Ann speaks in seconds 0-4, 10-14, ..., Ben in 5-9, 15-19, ...; Ann looks sad while Ben speaks
    # for the first time and neutral otherwise, Ben smiles throughout
    ann = ["sadness" if 5 <= second <= 9 else "neutral" for second in range(70)]
    signals = [*faces(ANN, ann), *faces(BEN, ["happiness"] * 70)]
    write(root, signals=signals, scores={ANN: 3, BEN: 8})
    sessions = by_name(dataset(*ALL_TRAIN).sessions())
    as_ann, as_ben = sessions["one/first"], sessions["one/second"]

    assert (as_ann.score, as_ben.score) == (3.0, 8.0)
    assert {session.conversation_id for session in sessions.values()} == {"one"}
    assert [turn.role for turn in as_ann.turns[:3]] == [Role.USER, Role.AGENT, Role.USER]
    assert [turn.role for turn in as_ben.turns[:3]] == [Role.AGENT, Role.USER, Role.AGENT]
    assert labels(as_ann) == [-1.0, 0, 0, 0, 0, 0, 0]
    assert labels(as_ben) == [1.0] * 7
    assert as_ann.turns[0].reaction is None


def test_cues_say_what_was_seen_and_heard_of_the_listener(dataset, root):
    columns = (*SIGNAL_COLUMNS, "gaze_on", "is_speaking", "pitch")
    spoken = turns()
    spoken[2] = (2, ANN, 9.5, 14, "She cuts in.")  # Ben stops at 9
    spoken[4] = (4, ANN, 18.25, 24, "She cuts in again.")  # Ben stops at 19
    shown = [*["happiness"] * 8, *["neutral"] * 62]
    signals = []
    for second in range(70):
        speaks = second % 10 < 5
        pitch = 300 if second == 10 else 200
        signals.append((second, ANN, *face(shown[second]), second < 6, speaks, pitch))
    write(root, spoken=spoken, signals=signals, signal_columns=columns, scores={ANN: 3, BEN: 8})
    (session,) = dataset(*ALL_TRAIN, "dataset.filters.need_face=true").sessions()
    reactions = [turn.reaction for turn in session.turns if turn.reaction is not None]
    cues = dict(reactions[0].cues)
    # seconds 5 to 9 are Ben's: happy in 5, 6 and 7, looking on in 5 only
    assert cues.pop("face") == "happiness"
    assert (cues.pop("face_share"), cues.pop("gaze_share")) == (0.6, 0.2)
    assert (cues.pop("reply_latency_s"), cues.pop("overlap_s")) == (0.5, 0.0)
    # Ann speaks for 35 s, once at 300: mean 200 + 100/35, deviation 100 * sqrt(34)/35 = 16.66; in
    # her reply, seconds 10 to 14, the mean is 220, so z = (220 - 202.86) / 16.66 = 1.03
    assert cues.pop("pitch_z") == 1.03
    assert not cues
    assert reactions[1].cues["overlap_s"] == 0.75
    assert "reply_latency_s" not in reactions[-1].cues  # nobody answers the last turn


def test_both_people_in_one_part_and_conversations_that_share_people_with_test_dropped(
    dataset, root
):
    for name, people in (("c1", "ab"), ("c2", "bc"), ("c3", "de")):
        first, second = people
        spoken = [(n, people[n % 2], *row[2:]) for n, row in enumerate(turns())]
        signals = [*faces(first, ["neutral"] * 70), *faces(second, ["neutral"] * 70)]
        write(root, name, spoken=spoken, scores={first: 5, second: 6}, signals=signals)
    division = ["dataset.division.by=file", f"dataset.division.file={root.parent / 'parts.csv'}"]
    (root.parent / "parts.csv").write_text("conversation_id,split\nc1,train\nc2,test\nc3,train\n")
    made = dataset(*division)
    parts = {(session.id, session.split) for session in made.sessions()}
    assert parts == {
        *(("c2/first", "test"), ("c2/second", "test")),
        *(("c3/first", "train"), ("c3/second", "train")),
    }
    report = made.report()
    assert report["in_no_part"] == {"shares people with a held-out conversation": 1}
    assert report["parts"] == {"test": 1, "train": 1}
    (stored,) = (root.parent / "data" / "candor" / "parts").iterdir()
    assert stored.read_text().splitlines() == [
        "conversation_id,split,reason",
        "c1,,shares people with a held-out conversation",
        "c2,test,",
        "c3,train,",
    ]


def test_the_report_counts_and_names_what_is_left_out(dataset, root):
    write(root, "good")
    copy = write(root, "copy_of_good")
    (copy / "metadata.json").write_text('{"id": "good"}')
    write(root, "zz", spoken=turns(name="unseen"))  # what was said in "unseen" as well
    write(root, "short", spoken=turns(5))
    (write(root, "unasked") / "survey.csv").unlink()
    write(root, "unseen", signals=faces(ANN, ["neutral"] * 70))
    write(root, "unscored", scores={ANN: 0, BEN: "nan"})
    made = dataset(*ALL_TRAIN)
    # the copy comes first by name, and is the one that is kept
    assert list(by_name(made.sessions())) == [
        "copy_of_good/first",
        "copy_of_good/second",
        "unseen/first",
    ]
    report = made.report()
    assert (report["conversations"], report["usable"], report["sessions"]) == (7, 2, 3)
    assert report["skipped"] == {
        "a conversation twice": {
            "count": 2,
            "such_as": ["good: of copy_of_good", "zz: the very words of unseen"],
        },
        "no survey": {"count": 1, "such_as": ["unasked: survey.csv"]},
        "score outside the scale": {"count": 1, "such_as": ["unscored: 0 is not in 1 to 9"]},
        "too few turns": {"count": 1, "such_as": ["short: 5"]},
    }
    assert report["sessions_left_out"] == {
        "no face of the listener": {"count": 1, "such_as": [f"unseen: {BEN}"]}
    }
    assert report["labels"] == {"positive": 7, "zero": 14, "negative": 0, "none": 0}
    assert report["synthetic"] is False


def test_what_is_left_out_is_told_once_with_its_reasons(dataset, root, caplog):
    for name, people in (("c1", "ab"), ("c2", "bc"), ("c3", "de")):
        spoken = [(n, people[n % 2], *row[2:]) for n, row in enumerate(turns(name=name))]
        signals = [*faces(people[0], ["neutral"] * 70), *faces(people[1], ["neutral"] * 70)]
        scores = {people[0]: 5, people[1]: 11 if name == "c3" else 6}
        write(root, name, spoken=spoken, scores=scores, signals=signals)
    write(root, "c4", target="i_like_you")
    (root.parent / "parts.csv").write_text("conversation_id,split\nc1,train\nc2,test\nc3,train\n")
    made = dataset("dataset.division.by=file", f"dataset.division.file={root.parent / 'parts.csv'}")
    made.sessions()
    made.report()
    (told,) = [record.getMessage() for record in caplog.records]
    assert told == (
        "2 of 4 conversations can be used; 2 are left out: a column is missing (1, such as c4: "
        "survey.csv has no overall_affect); shares people with a held-out conversation (1, as "
        "dataset.division.drop_shared says); and of the others 1 sessions: score outside the scale "
        "(1, such as c3: 11 is not in 1 to 9)"
    )


def test_nothing_is_told_where_all_is_used(dataset, root, caplog):
    write(root)
    dataset(*ALL_TRAIN).sessions()
    assert not caplog.records


def test_where_one_person_is_in_all_conversations_the_option_is_named(dataset, root, caplog):
    for number in range(4):
        people = (ANN, f"{number}" * 24)
        spoken = [(n, people[n % 2], *row[2:]) for n, row in enumerate(turns(name=f"c{number}"))]
        signals = [*faces(people[0], ["neutral"] * 70), *faces(people[1], ["neutral"] * 70)]
        write(root, f"c{number}", spoken=spoken, scores=dict.fromkeys(people, 5), signals=signals)
    (root.parent / "parts.csv").write_text(
        "conversation_id,split\nc0,test\nc1,train\nc2,train\nc3,train\n"
    )
    division = ["dataset.division.by=file", f"dataset.division.file={root.parent / 'parts.csv'}"]
    assert {session.split for session in dataset(*division).sessions()} == {"test"}
    assert "set dataset.division.drop_shared=none" in caplog.text
    assert ANN in caplog.text
    made = dataset(*division, "dataset.division.drop_shared=none")
    assert {session.split for session in made.sessions()} == {"test", "train"}


def test_a_folder_whose_name_is_no_utf_8_has_its_bytes_written_out(dataset, root):
    folder = write(root, "caf")
    folder.rename(os.fsdecode(os.fsencode(folder) + b"\xe9"))
    made = dataset(*ALL_TRAIN)
    assert list(by_name(made.sessions())) == ["caf\\xe9/first", "caf\\xe9/second"]
    assert made.version.startswith("candor-")


def test_data_is_read_where_nothing_can_be_kept_anew(dataset, root):
    write(root)
    dataset(*ALL_TRAIN).sessions()
    (parts,) = (root.parent / "data" / "candor" / "parts").iterdir()
    before = parts.stat().st_mtime_ns
    dataset(*ALL_TRAIN).sessions()
    assert parts.stat().st_mtime_ns == before
    parts.unlink()
    parts.parent.rmdir()
    parts.parent.write_text("in the way")
    with pytest.raises(DataError, match=r"cannot be written .*; make room, or choose another fold"):
        dataset(*ALL_TRAIN).sessions()


def test_data_that_cannot_be_used_at_all_says_why(dataset, root):
    write(root, scores={ANN: 50, BEN: 70})
    with pytest.raises(DataError, match=r"none of its 1 conversations can be used: score outside"):
        dataset().sessions()
    assert len(dataset(*ALL_TRAIN, "dataset.scale=[0,100]").sessions()) == 2


def test_other_questions_and_transcripts_can_be_chosen(dataset, root):
    write(root, target="good_for_advice", scores={ANN: 80, BEN: 20}, flavour="audiophile")
    chosen = ["dataset.target=good_for_advice", "dataset.transcript=audiophile"]
    made = dataset(*ALL_TRAIN, *chosen)
    assert [session.score for session in made.sessions()] == [80.0, 20.0]
    assert (made.target, made.score_range) == ("good_for_advice", (0.0, 100.0))


def test_the_version_changes_with_the_data_and_with_what_cuts_it_into_turns(dataset, root):
    write(root)
    version = dataset().version
    assert version.startswith("candor-")
    assert dataset("dataset.labels.rule=mean").version == version
    assert dataset("dataset.same_speaker=keep").version != version
    write(root, scores={ANN: 6, BEN: 6})
    assert dataset().version != version
    (root / "hidden_rewards.csv").write_text("conversation_id,turn_id,reward\n")
    assert dataset().version.startswith("candor_synthetic-")
    assert dataset().is_synthetic


LOADER = """
import sys
opened = []
sys.addaudithook(lambda event, args: event == "open" and opened.append(str(args[0])))
from pathlib import Path
from drl.runtime.compose import compose
from drl.runtime.config import build, to_plain
config = to_plain(compose(Path(sys.argv[1]), sys.argv[2:]))
made = build("dataset", config["dataset"])
made.sessions(), made.load(), made.report(), made.version
print(any(name.endswith("survey.csv") for name in opened))
print([name for name in opened if "hidden" in Path(name).name])
"""


def test_hidden_rewards_are_never_opened(root, tmp_path):
    write(root)
    (root / "hidden_rewards.csv").write_text("conversation_id,turn_id,reward\none,0,1\n")
    places = [f"dataset.root={root}", f"data_dir={tmp_path / 'data'}", "dataset.split=train"]
    command = [sys.executable, "-c", LOADER, str(CONF), "dataset=candor", *places, *ALL_TRAIN]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seen, hidden = done.stdout.splitlines()[-2:]
    assert seen == "True"
    # its own module may be imported by evaluation, and is not by data sets
    assert hidden == "[]"


PAPER_FACES = ["happiness"] * 10 + ["sadness"] * 60


def paper(dataset, option: str, *overrides: str) -> CandorDataset:
    division = ["dataset.division.by=hash", "dataset.division.positions=null", *ALL_TRAIN]
    return dataset(*division, *overrides, option=option)


def test_the_paper_preset_flips_nothing_but_the_score(dataset, root):
    spoken = [list(row) for row in turns()]
    spoken[1][4] = "Just five words for you."
    spoken[4][1] = BEN  # the third row of Ben's in a row is taken for Ann's
    signals = [*faces(ANN, PAPER_FACES), *faces(BEN, ["happiness"] * 70)]
    write(root, spoken=spoken, signals=signals, scores={ANN: 3, BEN: 8})
    first, flipped = paper(dataset, "candor/paper").sessions()
    assert (first.id, flipped.id) == ("one/first", "one/first_flipped")
    assert (first.score, flipped.score) == (3.0, 8.0)
    assert first.turns == flipped.turns
    assert [turn.role for turn in first.turns] == [Role.USER, Role.AGENT] * 7
    # five words are too few for happiness, and sadness is taken for neutral
    assert labels(first) == [0.0] * 7
    write(root, signals=signals, scores={ANN: 3, BEN: 8})
    first, _ = paper(dataset, "candor/paper").sessions()
    assert labels(first) == [1.0, 0, 0, 0, 0, 0, 0]


def test_the_paper_preset_for_faces_looks_at_one_face_only(dataset, root):
    signals = [*faces(ANN, PAPER_FACES), *faces(BEN, ["happiness"] * 70)]
    write(root, signals=signals, scores={ANN: 3, BEN: 8})
    first, second = paper(dataset, "candor/paper_faces").sessions()
    # Ann's own face counts for her own turns: she looks happy in her first one
    assert labels(first) == [1.0, 0, 0, 0, 0, 0, 0]
    assert labels(second) == [1.0, 0, 0, 0, 0, 0, 0]
    assert (first.score, second.score) == (3.0, 8.0)


def test_contexts_end_with_the_listener_and_the_agent_speaks_next(dataset, root):
    write(root)
    made = dataset(*ALL_TRAIN, "dataset.split=train", "dataset.contexts.per_session=null")
    tasks = {task.id: task for task in made.load()}
    # of 14 turns Ben's from 5 on are 5, 7, ..., 13, and Ann's 6, 8, 10, 12
    assert list(tasks) == [
        *(f"one/first/{number}" for number in (5, 7, 9, 11, 13)),
        *(f"one/second/{number}" for number in (6, 8, 10, 12)),
    ]
    task = tasks["one/first/5"]
    assert [turn.role for turn in task.opening] == [Role.USER, Role.AGENT] * 2 + [Role.USER]
    assert task.opening[-1].text == "Here is what one said as number 4"
    assert task.opening[-1].steps[0].reply == task.opening[-1].text
    assert task.brief.human_turns == ("Here is what one said as number 4",)
    assert task.world == {
        "conversation_id": "one",
        "session_id": "one/first",
        "turn": 5,
        "human_reply": "Here is what one said as number 5",
        "label": 0.0,
        "score": 7.0,
    }


def test_long_histories_are_cut_and_ends_can_be_left_out(dataset, root):
    write(root)
    chosen = ["dataset.split=train", "dataset.contexts.per_session=null"]
    cut = ["dataset.contexts.max_history=8", "dataset.contexts.keep_history=3"]
    made = dataset(*ALL_TRAIN, *chosen, *cut, "dataset.contexts.min_after=4")
    told = {task.id.rpartition("/")[2]: len(task.opening) for task in made.load()}
    # of 14 turns 9 is the last with four behind it
    assert told == {"5": 5, "6": 6, "7": 7, "8": 8, "9": 3}


def test_contexts_are_drawn_by_their_seed(dataset, root):
    write(root)
    chosen = [*ALL_TRAIN, "dataset.split=train", "dataset.contexts.per_session=2"]
    ids = [task.id for task in dataset(*chosen).load()]
    assert len(ids) == 4
    assert ids == [task.id for task in dataset(*chosen).load()]
    others = [
        [task.id for task in dataset(*chosen, f"dataset.contexts.seed={seed}").load()]
        for seed in range(5)
    ]
    assert any(other != ids for other in others)
    only = replace(dataset(*chosen), ids=ids[:1])
    assert [task.id for task in only.load()] == ids[:1]


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("dataset.target=sex", "dataset.target=sex is no question with a known scale"),
        ("dataset.scale=[9,1]", r"dataset.scale=\[9, 1\] must be the lowest and the highest"),
        ("dataset.transcript=own", "dataset.transcript=own is unknown; use one of cliffhanger"),
        ("dataset.split=dev", "dataset.split=dev is unknown; use one of train, val, test"),
        ("dataset.max_minutes=0", "dataset.max_minutes=0 must be above 0"),
        ("dataset.labels.lag_s=-1", "dataset.labels.lag_s=-1 must not be negative"),
        ("dataset.contexts.keep_history=30", "dataset.contexts.keep_history=30 must be from 1"),
    ],
)
def test_settings_are_checked_before_anything_is_read(dataset, override, message):
    with pytest.raises(ConfigError, match=message):
        dataset(override)


def test_a_split_without_tasks_says_what_there_is(dataset, root):
    write(root)
    with pytest.raises(ConfigError, match=r"dataset.split=test has no task; of 1 conversations"):
        dataset(*ALL_TRAIN).load()
    with pytest.raises(ConfigError, match=r"dataset.ids=one/first/4 is no task of the split"):
        dataset(*ALL_TRAIN, "dataset.split=train", "dataset.ids=[one/first/4]").load()


@pytest.mark.parametrize("option", ["candor", "candor/paper"])
def test_a_division_that_leaves_nothing_is_refused(dataset, root, option):
    write(root)
    division = ["dataset.division.by=position", "dataset.division.positions={train:[5,9]}"]
    if option == "candor/paper":
        division = ["dataset.division.positions.val=[5,9]", "dataset.division.positions.test=[5,9]"]
        division.append("dataset.division.positions.train=[5,9]")
    with pytest.raises(ConfigError, match=r"leaves none of 1 usable conversations in any part"):
        dataset(*division, option=option).sessions()
