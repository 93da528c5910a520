"""`drl score` and `drl convert-reward-head`: what they print, write and refuse."""

import json
from pathlib import Path

import pytest
import typer.testing
from cli.running import drl, error_of

from drl.cli.main import app
from drl.errors import ConfigError, DataError, DrlError, RunError
from drl.turn_reward.model import TurnRewardModel
from drl.turn_reward.session import Utterance
from drl.types import Role
from tests.turn_reward.encoders import save_bart
from tests.turn_reward.models import save_released_head

MODEL = Path("tests/reward/turn_model/model")
SAID = [Utterance(Role.USER, "Hello?"), Utterance(Role.AGENT, "Hi."), Utterance(Role.USER, "So?")]
TRANSCRIPT = """turn_id,speaker,start,stop,utterance
0,ann,0.0,1.0,Hello?
1,[b]bob,1.5,2.0,Hi.
2,ann,2.5,3.0,So?
"""


@pytest.fixture
def transcript(tmp_path):
    file = tmp_path / "transcript_audiophile.csv"
    file.write_text(TRANSCRIPT)
    return file


def run(*arguments: object) -> typer.testing.Result:
    """The command in this process, which has loaded torch already."""
    return typer.testing.CliRunner().invoke(app, [str(each) for each in arguments])


def lines(*arguments: object) -> list[dict]:
    done = run(*arguments)
    assert done.exit_code == 0, done.exception
    return [json.loads(line) for line in done.stdout.splitlines()]


def refusal(*arguments: object) -> DrlError:
    error = run(*arguments).exception
    assert isinstance(error, DrlError)
    assert "\n" not in str(error)
    return error


def test_every_turn_of_a_transcript_has_the_reward_that_the_model_gives(transcript):
    model = TurnRewardModel.load(MODEL)
    found = lines("score", transcript, "--model", MODEL, "--json")
    swapped = [
        Utterance(Role.USER if said.role is Role.AGENT else Role.AGENT, said.text) for said in SAID
    ]
    bob, ann = model.rewards(SAID), model.rewards(swapped)
    assert [line["reward"] for line in found[:3]] == pytest.approx([ann[0], *bob, ann[1]], abs=1e-5)
    assert [(line["number"], line["speaker"], line["text"]) for line in found[:3]] == [
        (0, "ann", "Hello?"),
        (1, "[b]bob", "Hi."),
        (2, "ann", "So?"),
    ]
    assert [(line["speaker"], line["score"]) for line in found[3:]] == [
        ("ann", pytest.approx(model.score(ann), abs=1e-5)),
        ("[b]bob", pytest.approx(model.score(bob), abs=1e-5)),
    ]


def test_one_speaker_can_be_the_agent_alone(transcript):
    found = lines("score", transcript, "--model", MODEL, "--json", "--agent", "[b]bob")
    assert [line["number"] for line in found if "number" in line] == [1]


def test_a_table_shows_rewards_beside_what_was_said(tmp_path):
    file = tmp_path / "talk.jsonl"
    roles = {Role.USER: "user", Role.AGENT: "assistant"}
    messages = [{"role": roles[said.role], "content": said.text} for said in SAID]
    file.write_text("\n".join(map(json.dumps, messages)))
    done = run("score", file, "--model", MODEL)
    assert done.exit_code == 0, done.exception
    (reward,) = TurnRewardModel.load(MODEL).rewards(SAID)
    (row,) = (line for line in done.stdout.splitlines() if "Hi." in line)
    assert f"{reward:+.3f}" in row
    assert "The rewards of assistant tell a session score of " in done.stdout


def test_files_and_models_that_are_none_are_told(tmp_path, transcript):
    assert isinstance(refusal("score", tmp_path / "none.json", "--model", MODEL), DataError)
    assert isinstance(refusal("score", transcript, "--model", tmp_path), RunError)
    save_released_head(tmp_path / "reward1_x", 4)
    error = refusal("score", transcript, "--model", tmp_path / "reward1_x")
    assert "is a pickle, which can run any code" in str(error)


def test_a_released_head_becomes_a_model_and_the_encoder_is_said_to_be_needed(tmp_path, transcript):
    file, out = tmp_path / "reward1_eager-glade-5", tmp_path / "converted"
    save_released_head(file, 32)
    encoder = save_bart(tmp_path / "lang_model_x")
    done = run("convert-reward-head", file, "--encoder", encoder, "--out", out)
    assert done.exit_code == 0, done.exception
    assert json.loads(done.stdout)["folder"] == str(out)
    assert "only with the encoder that its authors had trained on listeners' faces" in done.stderr
    model = TurnRewardModel.load(out)
    assert all(-1.0 < reward < 1.0 for reward in model.rewards(SAID))
    # ten times the score was held against 160 times the mean reward
    assert model.score([0.25, 0.5]) == pytest.approx(0.375 * 160 / 10)
    assert len(lines("score", transcript, "--model", out, "--json")) == 5
    again = refusal("convert-reward-head", file, "--encoder", encoder, "--out", out)
    assert "is there already; add --force" in str(again)
    assert (
        run("convert-reward-head", file, "--encoder", encoder, "--out", out, "--force").exit_code
        == 0
    )


def test_nothing_else_is_replaced_by_a_converted_head(tmp_path):
    save_released_head(tmp_path / "reward1_x", 32)
    for force in ([], ["--force"]):
        error = refusal(
            "convert-reward-head",
            tmp_path / "reward1_x",
            "--encoder",
            "x",
            "--out",
            tmp_path,
            *force,
        )
        assert "is there already; name a new folder" in str(error)
    assert (tmp_path / "reward1_x").exists()


def test_an_encoder_of_another_size_is_refused(tmp_path):
    save_released_head(tmp_path / "reward1_x", 16)
    encoder = save_bart(tmp_path / "bart")
    command = ["convert-reward-head", tmp_path / "reward1_x", "--out", tmp_path / "out"]
    error = refusal(*command, "--encoder", encoder)
    assert isinstance(error, ConfigError)
    assert "gives 32 numbers of a turn, but the head reads 16" in str(error)
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_what_is_wrong_is_one_line_of_the_command(tmp_path):
    done = drl("score", str(tmp_path / "none.json"), "--model", str(MODEL))
    assert "none.json: cannot be read" in error_of(done)


def test_half_a_character_is_scored_and_control_characters_are_not_shown(tmp_path):
    file = tmp_path / "said.json"
    said = [("user", "Hi\ud800 there"), ("assistant", "Red \x1b[31malert\x07 \x9b2J.")]
    file.write_text(json.dumps([{"role": role, "content": text} for role, text in said]))
    (turn, _) = lines("score", file, "--model", MODEL, "--json")
    assert turn["text"] == said[1][1]
    shown = run("score", file, "--model", MODEL).stdout
    assert "Red [31malert 2J." in shown
    assert not {"\x1b", "\x07", "\x9b"} & set(shown)


@pytest.mark.parametrize("text", ["x" * 200_000, "\0" * 200_000, "speaker,start\n" + "\0"])
def test_tables_that_are_none_are_told_in_one_line(tmp_path, text):
    file = tmp_path / "transcript.csv"
    file.write_text(text)
    assert "is no transcript (an unreadable file" in str(refusal("score", file, "--model", MODEL))
