"""Users' reward functions: what they are given, what they may return, and what stops a run."""

import asyncio
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted import NO_JUDGE, CountingWorld, say

from drl.errors import ConfigError
from drl.reward.base import RewardError
from drl.reward.function import FunctionReward
from drl.types import Brief, Failure, RewardEvent, Role, Step, Task, ToolCall, Turn

OWN = "tests/reward/own_rewards.py"


def reward_of(name: str, *, every_turn: bool = True) -> FunctionReward:
    return FunctionReward(function=f"{OWN}:{name}", every_turn=every_turn)


def task_of(prompt: str = "Once", **row: object) -> Task:
    return Task("7", "all", Brief((), human_turns=(prompt,)), (), {"prompt": prompt} | row)


def spoken(text: str) -> Turn:
    return Turn(Role.AGENT, text, (say(text),))


def events(name: str, text: str, task: Task | None = None) -> tuple[RewardEvent, ...]:
    judged = reward_of(name).judge(
        task or task_of(), CountingWorld(), (), spoken(text), (), NO_JUDGE
    )
    return asyncio.run(judged).events


def grade(reward: FunctionReward, *turns: Turn) -> float | None:
    return asyncio.run(reward.grade(task_of(), CountingWorld(), turns, NO_JUDGE))


def refusal(name: str, text: str = "a text", **row: object) -> str:
    with pytest.raises(RewardError) as caught:
        events(name, text, task_of(**row))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_number_is_one_reward_with_the_name_of_the_function():
    assert events("brevity", "abc") == (RewardEvent(0.25, "brevity"),)
    assert events("patient", "abc") == (RewardEvent(0.5, "patient"),)


def test_nothing_is_no_event():
    assert events("wanted", "abc", task_of(word="x")) == ()


def test_a_mapping_is_a_reward_for_each_name_but_for_those_of_nothing():
    assert events("parts", "abc.") == (RewardEvent(4.0, "length"), RewardEvent(1.0, "ends"))


def test_pairs_are_rewards_inside_the_text():
    first, second = (RewardEvent(0.5, "places", {"character": end}) for end in (2, 4))
    assert events("places", "hehe") == (first, second)
    assert events("mixed", "abcd") == (
        RewardEvent(0.25, "style", {"character": 1}),
        RewardEvent(0.5, "style", {"character": 4}),
        RewardEvent(1.0, "end"),
    )


def test_columns_of_the_row_come_by_name_and_all_of_them_where_the_function_takes_any():
    row = {"word": "b", "unused": 1}
    assert events("wanted", "abc", task_of(**row)) == (RewardEvent(1.0, "wanted"),)
    assert events("wanted", "abc", task_of(**row, weight=3)) == (RewardEvent(3.0, "wanted"),)
    (event,) = events("echo", "abc", task_of(**row))
    assert event.source == "Once|abc|unused,word"


def test_a_task_without_a_row_gives_its_prompt_or_instructions():
    (event,) = events("echo", "abc", Task("1", "all", Brief(("Do", "it")), ()))
    assert event.source == "Do\nit|abc|"


@pytest.mark.parametrize("value", [np.float32(0.5), np.array(0.5), 0.5])
def test_numbers_of_other_libraries_count(value):
    assert events("pays", "abc", task_of(value=value)) == (RewardEvent(0.5, "pays"),)


@given(st.lists(st.text(max_size=20), max_size=5))
def test_the_rewards_of_turns_add_up_to_the_grade(texts):
    reward, turns = reward_of("brevity"), [spoken(text) for text in texts]
    paid = [
        asyncio.run(reward.judge(task_of(), CountingWorld(), (), turn, (2, 0), NO_JUDGE))
        for turn in turns
    ]
    assert all(judgement.open_goals == (2, 0) for judgement in paid)
    total = sum(event.amount for judgement in paid for event in judgement.events)
    assert grade(reward, *turns) == pytest.approx(total)


def test_at_the_end_only_the_last_turn_counts_and_nothing_is_paid_before():
    reward = reward_of("brevity", every_turn=False)
    judged = reward.judge(task_of(), CountingWorld(), (), spoken("abc"), (), NO_JUDGE)
    assert asyncio.run(judged).events == ()
    assert grade(reward, spoken(""), Turn(Role.USER, "no"), spoken("abc")) == 0.25


def test_a_function_may_ask_for_the_whole_dialogue_at_its_end():
    reward = reward_of("turns", every_turn=False)
    assert grade(reward, Turn(Role.USER, "four"), spoken("abc")) == 4 + 3
    with pytest.raises(ConfigError, match=r"asks for dialogue.*set reward\.every_turn=false"):
        reward_of("turns")


def test_only_what_the_agent_said_is_rewarded():
    call = Turn(Role.AGENT, None, (Step("x", calls=(ToolCall("find", {}),)),))
    broken = Turn(Role.AGENT, "", failure=Failure("agent", "boom"))
    for turn in (Turn(Role.USER, "abc"), call, broken):
        judged = reward_of("brevity").judge(task_of(), CountingWorld(), (), turn, (), NO_JUDGE)
        assert asyncio.run(judged).events == ()
    assert grade(reward_of("brevity"), broken) is None


def test_a_text_of_one_task_is_asked_for_once_and_that_of_another_task_anew(tmp_path):
    (tmp_path / "counting.py").write_text(
        "asked = []\ndef count(prompt, text):\n    asked.append(text)\n    return len(asked)\n"
    )
    reward = FunctionReward(function=f"{tmp_path / 'counting.py'}:count", every_turn=True)
    first, second = task_of(), task_of()

    def judge(task: Task) -> float:
        judged = asyncio.run(reward.judge(task, CountingWorld(), (), spoken("abc"), (), NO_JUDGE))
        return judged.events[0].amount

    assert [judge(first), judge(first), judge(second)] == [1.0, 1.0, 2.0]
    assert asyncio.run(reward.grade(first, CountingWorld(), [spoken("abc")], NO_JUDGE)) == 1.0


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "must return numbers, but it is None"),
        (math.nan, "it is nan, and not a finite number"),
        (-math.inf, "it is -inf"),
        ("much", r"it is 'much' \(str\), and no number"),
        (np.zeros(3), r"it is an array of shape \[3\], and no number"),
        (np.zeros((1, 1)), r"it is an array of shape \[1, 1\]"),
        ([0.5], "item 0 of it is 0.5, and not a pair of a character and an amount"),
        ([(1, 0.5), (9, 1.0)], "item 1 of it ends at character 9, .* from 0 to 6"),
        ([(0.5, 1.0)], "item 0 of it ends at character 0.5"),
        ([(1, None)], "the amount of item 0 of it is None"),
        ({"style": math.nan}, "its reward style is nan"),
        ({"style": [(-1, 1.0)]}, "item 0 of its reward style ends at character -1"),
        ({3: 1.0}, "it names a reward 3; names are texts"),
        ({"a": {"b": 1.0}}, "its reward a is .* no number"),
    ],
)
def test_what_is_no_reward_stops_the_run_and_shows_prompt_and_text(value, message):
    with pytest.raises(RewardError, match=message) as caught:
        events("pays", "a text", task_of(value=value))
    assert "task 7, prompt 'Once', text 'a text'" in str(caught.value)
    assert str(caught.value).startswith(f"reward.function={OWN}:pays")


def test_an_error_in_the_function_is_told_with_its_line_prompt_and_shortened_text():
    message = refusal("broken", "  \n" + " " * 500)
    assert "broke: ZeroDivisionError: division by zero (own_rewards.py:" in message
    assert f"text '  \\n{' ' * 197}...'" in message


def test_a_row_without_what_the_function_asks_for_is_refused():
    assert "asks for word, which its row has not, only prompt" in refusal("wanted")
    with pytest.raises(RewardError, match="calls a parameter text as a key of the row; rename"):
        events("brevity", "abc", task_of(text="abc"))


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        (f"{OWN}:nothing", "has no function nothing; it has: brevity, wanted, echo"),
        (f"{OWN}:NUMBER", "has no function NUMBER"),
        (f"{OWN}:Thing", "has no function Thing"),
        (f"{OWN}:one", r"takes \(prompt\), but is given a prompt and a text; write it as def rew"),
        ("nowhere.py:f", "there is no such file in"),
        ("no_such_module:f", "ModuleNotFoundError"),
        ("brevity", "it must read path.py:function or package.module:function"),
    ],
)
def test_a_function_that_cannot_be_asked_is_refused_at_once(reference, message):
    with pytest.raises(ConfigError, match=message) as caught:
        FunctionReward(function=reference, every_turn=True)
    assert str(caught.value).startswith(f"reward.function={reference}")


def test_the_version_follows_the_file(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("def f(prompt, text):\n    return 1\n")
    reward = FunctionReward(function=f"{file}:f", every_turn=True)
    before = reward.version
    assert before.startswith("reward-")
    file.write_text("def f(prompt, text):\n    return 2\n")
    assert reward.version != before
