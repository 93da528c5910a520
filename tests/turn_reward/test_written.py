"""Dialogues in files: whose turns are whose, and what is told of files that are none."""

import json

import pytest

from drl.errors import DataError
from drl.turn_reward.session import Utterance
from drl.turn_reward.written import Said, WrittenDialogue, read_dialogues
from drl.types import Role

AGENT, USER = Role.AGENT, Role.USER
MESSAGES = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "Hello?"},
    {"role": "assistant", "content": None, "tool_calls": []},
    {"role": "tool", "content": "{}"},
    {"role": "assistant", "content": "Hi."},
    {"role": "assistant", "content": [{"type": "text", "text": "How are you?"}]},
    {"role": "user", "content": "Fine."},
]
HEARD = [
    Utterance(USER, "Hello?"),
    Utterance(AGENT, "Hi. How are you?"),
    Utterance(USER, "Fine."),
]
TRANSCRIPT = """turn_id,speaker,start,stop,utterance,n_words
0,ann,0.0,1.0,"Hello, you",2
1,bob,1.5,2.0,Hi.,1
2,bob,2.5,3.0,And you?,2
3,ann,3.5,4.0,Fine.,1
"""


def write(path, content) -> WrittenDialogue:
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return read_dialogues(path, None)[0]


def refusal(path, content: str | bytes, agent: str | None = None) -> str:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError) as caught:
        read_dialogues(path, agent)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("form", ["list", "lines", "object", "marked"])
def test_messages_are_read_in_every_form_and_tools_say_nothing(tmp_path, form):
    texts = {
        "list": json.dumps(MESSAGES),
        "lines": "\n\n".join(json.dumps(message) for message in MESSAGES) + "\n",
        "object": json.dumps({"messages": MESSAGES}),
        "marked": "\ufeff" + json.dumps(MESSAGES),
    }
    dialogue = write(tmp_path / "talk.json", texts[form])
    assert dialogue.heard("assistant") == HEARD
    assert [turn.number for turn in dialogue.turns] == [1, 4, 6]


def test_a_line_may_hold_a_dialogue(tmp_path):
    file = tmp_path / "talks.jsonl"
    file.write_text("\n".join(json.dumps({"messages": MESSAGES}) for _ in range(3)))
    assert [each.heard("assistant") for each in read_dialogues(file, None)] == [HEARD] * 3


def test_any_role_can_be_the_agent(tmp_path):
    file = tmp_path / "talk.json"
    file.write_text(json.dumps(MESSAGES))
    (dialogue,) = read_dialogues(file, "user")
    assert dialogue.agents == ["user"]
    assert [said.role for said in dialogue.heard("user")] == [AGENT, USER, AGENT]


def test_both_speakers_of_a_transcript_are_agents_for_themselves(tmp_path):
    dialogue = write(tmp_path / "transcript_cliffhanger.csv", TRANSCRIPT)
    assert dialogue.agents == ["ann", "bob"]
    assert dialogue.turns[1] == Said(1, "bob", "Hi. And you?")
    assert dialogue.heard("ann") == [
        Utterance(AGENT, "Hello, you"),
        Utterance(USER, "Hi. And you?"),
        Utterance(AGENT, "Fine."),
    ]
    assert [said.role for said in dialogue.heard("bob")] == [USER, AGENT, USER]


def test_among_more_than_two_speakers_the_agent_is_named(tmp_path):
    text = TRANSCRIPT + "4,cat,5.0,6.0,Me too.,2\n"
    file = tmp_path / "three.csv"
    assert "has 3 speakers (ann, bob, cat), not two" in refusal(file, text)
    (dialogue,) = read_dialogues(file, "cat")
    assert [said.role for said in dialogue.heard("cat")] == [USER, USER, USER, AGENT]
    assert "dan does not speak in it" in refusal(file, text, "dan")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "holds no messages"),
        ("[]", "holds no messages"),
        ("{", ":1: is not JSON"),
        ('{"role": "user", "content": "a"}\n{"role"', ":2: is not JSON"),
        ("3", "message 0 is 3; it must be an object"),
        ('[{"content": "a"}]', "message 0 is"),
        ('[{"role": "user", "content": 3}]', "message 0 has a content that is neither text"),
        ('[{"role": "user", "content": [{"type": "image"}]}]', "message 0 has a content"),
        ('{"messages": 3}', "messages is no list"),
        ('[{"role": "user", "content": "a"}]', "no message has the role assistant; its roles are"),
        (b"\xff", "byte 1 is not UTF-8"),
        ("[" * 100_000, ":1: is not JSON"),
    ],
)
def test_files_without_a_dialogue_are_told(tmp_path, content, message):
    assert message in refusal(tmp_path / "talk.jsonl", content)


def test_tables_without_a_dialogue_are_told(tmp_path):
    assert "is no transcript" in refusal(tmp_path / "a.csv", "")
    assert "is no transcript" in refusal(tmp_path / "a.csv", "speaker,start,stop\nann,0,1\n")
    with pytest.raises(DataError, match="cannot be read"):
        read_dialogues(tmp_path / "none.json", None)
    with pytest.raises(DataError, match="is no transcript"):
        read_dialogues(tmp_path / "none.csv", None)
