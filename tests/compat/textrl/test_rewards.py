import functools

import numpy
import pytest
import torch

from drl.compat.textrl import (
    BaseReward,
    ClassifierReward,
    compose,
    length_penalty,
    repetition_penalty,
    reward_fn,
    to_reward_fn,
)
from drl.errors import ConfigError
from tests.compat.textrl.small import CHAT

ANSWER = [{"role": "assistant", "content": "aaa"}]


def sizes(prompts, completions, **columns):
    return [float(len(text)) for text in completions]


def judge(texts):
    """A classifier that finds texts the better the more of them is an a."""
    shares = [text.count("a") / len(text) for text in texts]
    return [
        [{"label": "BAD", "score": 1 - share}, {"label": "GOOD", "score": share}]
        for share in shares
    ]


def test_a_function_becomes_a_reward_with_or_without_a_name():
    assert reward_fn(sizes)([""], ["abc"]) == [3.0]
    named = reward_fn(name="size")(sizes)
    assert (named.name, reward_fn(sizes).name) == ("size", "sizes")
    assert to_reward_fn(named) is named
    assert to_reward_fn(functools.partial(sizes)).name == "sizes"


def test_a_function_gets_texts_also_of_chats():
    assert reward_fn(sizes)([CHAT], [ANSWER]) == [3.0]


def test_a_function_may_ask_for_messages():
    @reward_fn(reads="messages")
    def roles(prompts, completions, **columns):
        return [float(completion[0]["role"] == "assistant") for completion in completions]

    assert roles([CHAT], [ANSWER]) == [1.0]


@pytest.mark.parametrize(
    "values", [[1, None, 0.5], torch.tensor([1.0, 2.0, 3.0]), numpy.array([1, 2, 3])]
)
def test_rewards_may_be_any_row_of_numbers(values):
    given = reward_fn(lambda prompts, completions, **_: values)(["p"] * 3, ["c"] * 3)
    assert given == [None if value is None else float(value) for value in values]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (1.0, "gave 1.0; give a list of 2 numbers"),
        ([1.0], "gave 1 values for 2 completions"),
        ([1.0, float("nan")], "gave nan; completion 1: prompt 'q', completion 'there'"),
        ([float("inf"), 1.0], "gave inf; completion 0"),
        (["good", 1.0], "gave 'good', which is no number; completion 0"),
        (torch.zeros(2, 3), "which is no number"),
    ],
)
def test_what_is_no_row_of_numbers_is_an_error_that_shows_the_text(value, said):
    with pytest.raises(ConfigError, match=said):
        reward_fn(lambda prompts, completions, **_: value)(["p", "q"], ["here", "there"])


def test_what_a_function_raises_is_shown_with_the_text():
    def breaks(prompts, completions, **columns):
        return [1 / len(completions[0].split("x")[1]) for _ in prompts]

    with pytest.raises(ConfigError, match=r"breaks raised IndexError.*first of 1: prompt 'p'.*'y'"):
        reward_fn(breaks)(["p"], ["y"])


def test_what_cannot_be_called_as_a_reward_is_refused():
    with pytest.raises(ConfigError, match="cannot be called"):
        to_reward_fn(3)
    with pytest.raises(ConfigError, match=r"must take prompts, completions and \*\*columns"):
        reward_fn(lambda prompts, completions: [])

    async def later(prompts, completions, **columns):
        return []

    with pytest.raises(ConfigError, match="later is a coroutine"):
        reward_fn(later)


def test_a_sum_is_weighted():
    total = compose(sizes, length_penalty, weights=[2.0, 0.5])
    # 2 * 3 - 0.5 * 0.01 * |3 - 64|
    assert total(["p"], ["abc"]) == [pytest.approx(6 - 0.305)]
    assert compose(sizes, sizes)([CHAT], [ANSWER]) == [6.0]


def test_what_does_not_apply_adds_nothing():
    def never(prompts, completions, **columns):
        return [None] * len(completions)

    assert compose(sizes, never)(["p"], ["abc"]) == [3.0]
    assert compose(never)(["p"], ["abc"]) == [None]


def test_a_sum_hands_columns_on():
    def wants(prompts, completions, *, answer, **columns):
        return [float(a == c) for a, c in zip(answer, completions, strict=True)]

    assert compose(wants)(["p", "p"], ["x", "y"], answer=["x", "z"]) == [1.0, 0.0]


def test_weights_are_as_many_as_rewards():
    with pytest.raises(ConfigError, match="1 weights for 2 rewards"):
        compose(sizes, sizes, weights=[1.0])
    with pytest.raises(ConfigError, match="no reward"):
        compose()


def test_length_is_measured_in_characters_of_what_was_said():
    assert length_penalty(["p", "p"], ["a" * 60, "a" * 70]) == [-0.04, -0.06]
    assert length_penalty([CHAT], [ANSWER], target_length=5, scale=0.5) == [-1.0]


def test_repetition_is_the_share_of_word_groups_that_came_before():
    # a b a b a: the pairs ab, ba, ab, ba; two of four came before
    assert repetition_penalty(["p"], ["a b a b a"], n=2) == [-0.5]
    assert repetition_penalty(["p"] * 2, ["one two", ""], n=3) == [0.0, 0.0]
    assert repetition_penalty([CHAT], [[{"role": "assistant", "content": "a a a"}]], n=1) == [
        pytest.approx(-2 / 3)
    ]
    with pytest.raises(ConfigError, match="n=0"):
        repetition_penalty(["p"], ["c"], n=0)


def test_a_classifier_scores_the_label_that_is_wanted():
    assert ClassifierReward(judge, "GOOD", combine_prompt=False)(["bb"], ["aab"]) == [
        pytest.approx(2 / 3)
    ]
    assert ClassifierReward(judge, "GOOD", scale=10.0)(["bb"], ["aa"]) == [5.0]
    assert ClassifierReward(judge)(["bb"], ["aa"]) == [0.5]  # the label that comes first


def test_a_classifier_reads_chats():
    # "Say a." + newline + "aaa": 5 of 10 characters are an a
    assert ClassifierReward(judge, "GOOD")([CHAT], [ANSWER]) == [0.5]
    assert ClassifierReward(judge, "GOOD", combine_prompt=False)([CHAT], [ANSWER]) == [1.0]


def test_a_classifier_is_asked_for_all_labels_where_it_can():
    asked = []

    def pipeline(texts, **options):
        asked.append(options)
        return judge(texts)

    ClassifierReward(pipeline, "GOOD")(["b"], ["a"])
    ClassifierReward(pipeline)(["b"], ["a"])
    assert asked == [{"top_k": None}, {}]


def test_a_score_may_be_made_of_all_labels():
    balance = ClassifierReward(
        judge, score_fn=lambda labels: labels[1]["score"] - labels[0]["score"]
    )
    assert balance(["b"], ["aaa"]) == [0.5]


def test_a_wrong_label_is_told_the_right_ones():
    with pytest.raises(ConfigError, match=r"target_label=POSITIVE is none of .*'BAD', 'GOOD'"):
        ClassifierReward(judge, "POSITIVE")(["b"], ["a"])
    with pytest.raises(ConfigError, match="both say what counts"):
        ClassifierReward(judge, "GOOD", score_fn=lambda labels: 0.0)


def test_a_reward_may_keep_something_between_calls():
    class Counter(BaseReward):
        name = "counter"
        calls = 0

        def score(self, prompts, completions, **columns):
            self.calls += 1
            return [float(self.calls)] * len(completions)

    counter = Counter()
    counter(["p"], ["c"])
    assert counter(["p"], ["c"]) == [2.0]
