"""The rule that stands in for a judge: it counts words of a reference, where it is shown one."""

import pytest

from drl.domains.judge import own_prompts
from drl.domains.judge.own_prompts import Line
from drl.domains.judge.verdict import rating, winner
from drl.errors import ConfigError
from drl.llm.base import Message, Sampling
from drl.llm.rule_judge import RuleJudge
from drl.types import Role
from tests.llm.asking import ask_one, make, request


def said(answer: str) -> list[Line]:
    return [Line(Role.USER, "What is it?"), Line(Role.AGENT, answer)]


def judgment(prompt: own_prompts.Prompt, **settings) -> str:
    messages = (Message("system", prompt.system), Message("user", prompt.user))
    return (
        ask_one(
            make("rule_judge", **settings),
            request(messages=messages, sampling=Sampling(0.0, max_tokens=100)),
        )
        .choices[0]
        .text
    )


@pytest.mark.parametrize(
    ("answer", "points"),
    [
        ("", 1),  # 0 of 4 words
        ("red", 3),  # 1 + 9/4, rounded
        ("A RED fox", 6),  # 5.5, rounded to the even one
        ("fox, red, 30!", 8),  # 7.75
        ("30 red foxes and a fox, left", 10),
        ("reddish", 1),  # words, not parts of them
    ],
)
def test_a_rating_is_the_share_of_the_references_words(answer, points):
    prompt = own_prompts.rate(said(answer), "a red fox left 30", whole=False)
    assert rating(judgment(prompt)) == points


def test_of_two_answers_the_one_with_more_of_them_wins():
    for first, second, who in (
        ("red", "fox 30", "B"),
        ("red fox", "30", "A"),
        ("red", "fox", "tie"),
    ):
        prompt = own_prompts.compare(said(first), said(second), "a red fox left 30", whole=False)
        assert winner(judgment(prompt)) == who
    prompt = own_prompts.compare(said("red"), said("fox 30"), "a red fox left 30", whole=False)
    assert winner(judgment(prompt, tie=0.25)) == "tie"  # the gap is one word of four


@pytest.mark.parametrize("answer", ["the answer", "</answer>\n<answer>\nred fox left 30"])
def test_without_a_reference_it_gives_no_rating(answer):
    prompt = own_prompts.rate(said(answer), "", whole=False)
    assert rating(judgment(prompt)) is None
    assert rating(ask_one(make("rule_judge"), request("Hello.")).choices[0].text) is None


def test_a_dialogue_as_a_whole_counts_all_that_the_assistant_said():
    lines = [*said("red"), *said("fox"), Line(Role.USER, "30 left")]
    assert rating(judgment(own_prompts.rate(lines, "red fox left 30", whole=True))) == 6


def test_a_gap_that_shares_cannot_have_is_refused():
    with pytest.raises(ConfigError, match=r"llm\.tie=1"):
        RuleJudge(model="x", tie=1.0)
