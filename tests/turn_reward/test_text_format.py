"""How a turn is written down, in the recommended format and in those of the released code."""

from dataclasses import asdict, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drl.errors import ConfigError
from drl.runtime.compose import compose
from drl.runtime.config import to_plain
from drl.turn_reward.session import Utterance
from drl.turn_reward.text_format import RELEASED, TextFormat, TurnText
from drl.types import Role

CONF = Path(__file__).parents[2] / "conf"
PLAIN = TextFormat(
    max_turns=20,
    kept_turns=20,
    opening="first",
    agent_name="AI",
    listener_name="User",
    entry="{role}: {text}",
    response="{role}: {text}",
    separators=2,
)


def talk(num_turns: int, *, first: Role = Role.USER) -> list[Utterance]:
    """Sides that take turns and count aloud."""
    other = Role.AGENT if first is Role.USER else Role.USER
    return [Utterance((first, other)[at % 2], str(at)) for at in range(num_turns)]


def numbers(text: TurnText) -> list[int]:
    return [int(word) for word in text.context.split() if word.isdigit()]


def test_a_turn_is_what_came_before_it_and_the_response():
    text = PLAIN.render(talk(4), 3)
    assert text == TurnText("User: 0 AI: 1 User: 2", "AI: 3", 2)


def test_the_first_turn_of_a_session_has_no_context():
    assert PLAIN.render(talk(1, first=Role.AGENT), 0) == TurnText("", "AI: 0", 2)


def test_only_so_many_turns_before_the_response_are_kept():
    # turn 25 has 25 before it; the last 20 of them are 5 to 24
    assert numbers(PLAIN.render(talk(26), 25)) == list(range(5, 25))


def test_what_comes_after_a_turn_does_not_change_its_text():
    assert PLAIN.render(talk(30), 9) == PLAIN.render(talk(10), 9)


def test_line_breaks_and_further_blanks_of_a_text_are_one_blank():
    said = [Utterance(Role.USER, " so \n\n what?\t"), Utterance(Role.AGENT, "a  b")]
    assert PLAIN.render(said, 1) == TurnText("User: so what?", "AI: a b", 2)


@given(st.text())
def test_any_text_can_be_said(text):
    said = [Utterance(Role.AGENT, text)]
    assert PLAIN.render(said, 0).response == f"AI: {' '.join(text.split())}"


def test_braces_in_a_text_are_no_names():
    said = [Utterance(Role.USER, "{role} {text} {0}"), Utterance(Role.AGENT, "{}")]
    assert PLAIN.render(said, 1) == TurnText("User: {role} {text} {0}", "AI: {}", 2)


def test_a_turn_of_the_listener_earns_nothing():
    with pytest.raises(ValueError, match="turn 2 is the user's"):
        PLAIN.render(talk(3), 2)


def test_released_code_joins_entries_that_begin_with_a_blank_by_another():
    text = RELEASED["geli_training"].render(talk(4), 3)
    assert text == TurnText(" User: 0  AI: 1  User: 2", "AI: 3", 1)


def test_released_training_of_geli_keeps_20_entries_with_the_response():
    assert numbers(RELEASED["geli_training"].render(talk(32), 31)) == list(range(12, 31))


def test_released_validation_of_geli_drops_the_first_turn():
    assert numbers(RELEASED["geli_validation"].render(talk(6), 5)) == [1, 2, 3, 4]
    assert numbers(RELEASED["geli_validation"].render(talk(32), 31)) == list(range(12, 31))
    assert RELEASED["geli_validation"].render(talk(1, first=Role.AGENT), 0).context == ""


def test_released_training_on_reactions_keeps_10_entries_of_more_than_20_and_a_name_at_the_end():
    form = RELEASED["li_training"]
    assert numbers(form.render(talk(20), 19)) == list(range(19))
    # 22 entries with the response: the last 10 are 12 to 21, the response among them
    long = form.render(talk(22), 21)
    assert numbers(long) == list(range(12, 21))
    assert (long.response, long.separators) == (" AI: 21 AI:", 2)


def test_released_scoring_begins_with_the_first_turn_of_the_agent():
    form = RELEASED["rl_scoring"]
    assert form.render(talk(4), 3) == TurnText(" AI: 1  User: 2", " AI: 3", 2)
    # 23 turns before are more than 20, so the last 10 of them stay: 13 is the agent's
    assert numbers(form.render(talk(24), 23)) == list(range(13, 23))
    assert form.render(talk(2), 1).context == ""


def test_formats_that_differ_in_anything_have_other_digests():
    changed = [
        replace(PLAIN, max_turns=21),
        replace(PLAIN, kept_turns=3),
        replace(PLAIN, opening="agent"),
        replace(PLAIN, agent_name="Bot"),
        replace(PLAIN, listener_name="Human"),
        replace(PLAIN, entry="{role}- {text}"),
        replace(PLAIN, response="{text}"),
        replace(PLAIN, separators=1),
    ]
    digests = {form.digest for form in (PLAIN, *changed, *RELEASED.values())}
    assert len(digests) == 1 + len(changed) + 4
    assert TextFormat(**asdict(PLAIN)).digest == PLAIN.digest


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kept_turns": 21}, "kept_turns=21 is more than max_turns=20; lower it"),
        ({"separators": -1}, "separators=-1 must not be negative; use 0"),
        ({"entry": "{role}"}, "entry='{role}' must hold {text} once; say '{role}: {text}'"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(change, message):
    with pytest.raises(ConfigError) as caught:
        replace(PLAIN, **change)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("preset", "form"),
    [
        ("reward_model", PLAIN),
        ("reward_model/geli", PLAIN),
        ("reward_model/geli/paper", RELEASED["geli_training"]),
        ("reward_model/rrd/paper", RELEASED["geli_training"]),
        ("reward_model/li/paper", RELEASED["li_training"]),
    ],
)
def test_presets_write_what_they_claim(preset, form):
    trainer = to_plain(compose(CONF, [f"trainer={preset}"]))["trainer"]
    node = dict(trainer["text_format"])
    assert node.pop("_target_") == "drl.turn_reward.text_format.TextFormat"
    assert TextFormat(**node) == form
