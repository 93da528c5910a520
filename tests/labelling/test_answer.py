import json

import pytest
from labelling.judged import reply

from drl.labelling.answer import LONGEST_SUMMARY, FaultyReplyError, read


def test_a_right_reply_is_read():
    answer = read(reply({2: 0.5, 4: -1}, "They  met.\n"), [2, 4])
    assert answer.marks == {2: 0.5, 4: -1.0}
    assert answer.summary == "They met."


def test_words_and_fences_around_the_object_do_no_harm():
    assert read(f"Sure!\n```json\n{reply({2: 0})}\n```\nDone.", [2]).marks == {2: 0.0}


def test_a_long_summary_is_cut():
    assert len(read(reply({2: 0}, "x" * 9000), [2]).summary) == LONGEST_SUMMARY


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("I would rather not.", "it holds no JSON object"),
        ("} {", "it holds no JSON object"),
        ('{"marks": [}', "Invalid JSON"),
        ('{"turns": []}', "marks: Field required"),
        (reply({2: 1.5, 4: 0}), r"marks\.0\.mark: Input should be less than or equal to 1"),
        ('{"marks": [{"turn": 2, "mark": NaN}]}', "Input should be|Invalid JSON"),
        ('{"marks": [{"turn": "2", "mark": 0}]}', r"marks\.0\.turn: Input should be a valid int"),
        ('{"marks": [{"turn": 2, "mark": true}]}', r"marks\.0\.mark: Input should be a valid num"),
        (reply({2: 0}), "turns 4 are without a mark"),
        (reply({2: 0, 4: 0, 5: 0}), "turns 5 are marked, but not asked for"),
        (
            json.dumps({"marks": [{"turn": t, "mark": 0} for t in (2, 4, 4)]}),
            "turns 4 are marked more than once",
        ),
        ("{" * 100_000 + "}", "Invalid JSON|recursion"),
    ],
)
def test_a_wrong_reply_says_what_is_wrong(text: str, fault: str):
    with pytest.raises(FaultyReplyError, match=fault):
        read(text, [2, 4] if "NaN" not in text else [2])
