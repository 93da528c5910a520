"""Checks of answers, each held against answers that do and that do not what was asked."""

import pytest

from drl.finetune.checks import CHECKS
from drl.finetune.forgetting import instructions, passages

CASES = {
    "word_count": [
        (
            {"low": 3, "high": 3},
            ["deep blue water", " Deep, blue, wide. "],
            ["deep", "a b c d", ""],
        ),
        ({"low": 1, "high": 4}, ["The Bean"], ["", "The Old Bean On Main"]),
    ],
    "sentence_count": [
        ({"n": 1}, ["It spans 3.5 metres.", "Why?!"], ["It spans", "It spans. It holds.", ""]),
        ({"n": 2}, ["It is. So?"], ["It is.", "It is. So? No!"]),
    ],
    "line_count": [({"n": 2}, ["a\nb", "a\n\nb\n"], ["a", "a\nb\nc", ""])],
    "is_lower_case": [({}, ["dogs bark.", "a1"], ["Dogs bark", "12", ""])],
    "is_upper_case": [({}, ["DOGS BARK!"], ["DOGs", "12", ""])],
    "starts_with": [
        ({"beginning": "Dear Tom"}, ["Dear Tom,\nhi", " Dear Tom"], ["dear Tom", "Hi. Dear Tom"])
    ],
    "ends_with": [
        (
            {"ending": "good night"},
            ["Good night", "Sleep well, good night!", 'He said "Good, night."'],
            ["good night now", "goodnight", "night", ""],
        )
    ],
    "ends_exactly": [({"ending": "?"}, ["Why? ", "?"], ["Why?!", "Why", ""])],
    "contains": [
        (
            {"words": ["lamp", "green"]},
            ["A Green lamp.", "green-lamp"],
            ["green lamps", "evergreen lamp", "lamp", ""],
        ),
        ({"words": ["XK42-7B"]}, ["It is XK42-7B."], ["XK427B", "XK42-7"]),
    ],
    "contains_times": [
        (
            {"word": "tea", "n": 2},
            ["Tea, tea", "tea for a team tea"],
            ["tea", "tea tea tea", "teatea"],
        )
    ],
    "avoids": [
        ({"texts": [",", "the"], "at_least": 2}, ["a cat"], ["cat", "a, b", "The cat", "a other"])
    ],
    "says": [({"texts": ["yes", "of course"]}, ["Yes.", '"Of course!"'], ["yes yes", "no", ""])],
    "is_number": [
        ({"value": 5}, ["5", " 5. ", "**5**", "5.0"], ["-5", "15", "five", "2 + 3 = 5", ""]),
        ({"value": -2}, ["-2."], ["2"]),
    ],
    "has_number": [
        ({"value": 1200}, ["It is 1,200.", "1200 of them", "1200.0"], ["12", "11200", "none", ""])
    ],
    "is_object": [
        (
            {"keys": ["a", "b"]},
            ['{"b": 1, "a": {}}', '```json\n{"a": 1, "b": 2}\n```'],
            ['{"a": 1}', '{"a": 1, "b": 2, "c": 3}', '["a", "b"]', 'Here: {"a": 1, "b": 2}', ""],
        )
    ],
    "is_array": [
        ({"n": 2}, ["[1, 2]", '```\n["a", "b"]\n```'], ["[1]", "{}", "1, 2", "[1, 2", ""])
    ],
    "numbered_items": [
        (
            {"n": 2},
            ["1. a\n2. b", "Sure:\n1) a\n\n2) b"],
            ["1. a", "1. a\n2. b\n3. c", "1.\n2.", ""],
        )
    ],
    "bullet_items": [({"n": 2}, ["- a\n- b", "Sure:\n* a\n  * b"], ["- a", "-a\n-b", "a\nb", ""])],
    "separated": [
        ({"by": ";", "n": 3}, ["a; b; c", "a;b;c."], ["a; b", "a; b;", "a;\nb;\nc", "a, b, c", ""])
    ],
}


def test_each_check_has_cases():
    assert set(CASES) == set(CHECKS)


@pytest.mark.parametrize("name", CASES)
def test_a_check_accepts_what_does_as_asked_and_nothing_else(name):
    for settings, good, bad in CASES[name]:
        assert [text for text in good if not CHECKS[name](text, **settings)] == []
        assert [text for text in bad if CHECKS[name](text, **settings)] == []


def test_there_are_fifty_instructions_and_an_empty_answer_follows_none():
    asked = instructions()
    assert len({each.name for each in asked}) == len({each.ask for each in asked}) == 50
    assert [each.name for each in asked if each.is_followed("")] == []
    # that no check refuses everything, some answers of hand show
    answers = {
        "three_words": "deep blue water",
        "no_digits": "Seven",
        "object_a_b": '{"a": 1, "b": 2}',
        "semicolons_between": "Peru; Chad; Oman",
        "numbered_four": "1. hat\n2. towel\n3. book\n4. water",
    }
    followed = {each.name: each.is_followed for each in asked}
    assert all(followed[name](answer) for name, answer in answers.items())


def test_the_generic_texts_are_of_many_kinds():
    texts = passages()
    assert len({text for _, text in texts}) == len(texts) >= 30
    assert {"news", "recipe", "code", "dialogue", "mathematics"} <= {kind for kind, _ in texts}
    assert all(100 < len(text) < 600 for _, text in texts)
