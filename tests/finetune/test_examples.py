"""What is drawn of rows: each once, none that another contradicts, in an order of its own."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drl.errors import DataError
from drl.finetune.examples import Drawn, Example, draw
from drl.finetune.settings import DataSettings
from drl.llm.base import Message
from drl.miner.base import DPORow, KTORow, Origin, Row


def origin(place: int) -> Origin:
    return Origin(run="r", task_id=f"t{place}", trial=0, nodes=(place,))


def said(text: str) -> Message:
    return Message("assistant", text)


def labelled(text: str, *, label: bool, place: int = 0) -> KTORow:
    prompt = (Message("user", "p"),)
    return KTORow(prompt=prompt, completion=said(text), label=label, origin=origin(place))


def pair(better: str, worse: str, weight: float = 1.0, place: int = 0) -> DPORow:
    return DPORow(
        prompt=(Message("user", "p"),),
        chosen=said(better),
        rejected=said(worse),
        weight=weight,
        origin=origin(place),
        rejected_origin=origin(place),
    )


def drawn(
    rows: list[Row], max_rows: int | None = None, max_tokens: int | None = None, longest: int = 9
) -> Drawn:
    """Rows as examples of as many tokens as their output has letters."""
    data = DataSettings(
        max_rows=max_rows, max_tokens=max_tokens, max_length=longest, too_long="drop"
    )

    def encode(row: Row):
        assert not hasattr(row, "messages")
        output = row.completion if isinstance(row, KTORow) else row.chosen  # type: ignore[union-attr]
        length = len(output.content)
        fits = Example(columns={"row": row}, num_tokens=length, num_trained=1, task_id="t")
        yield fits if length <= longest else None

    return draw(rows, data, 0, longest, encode)


def rows_of(found: Drawn) -> list[Row]:
    return [example.columns["row"] for example in found.examples]


MANY: list[Row] = [
    *(pair(text, "z" + text, place=place) for place, text in enumerate("abcdefgh")),
    *(pair(text, "z" + text, weight=0.5, place=9) for text in "aceg"),
    *(pair("z" + text, text) for text in "dh"),
]


@given(seed=st.integers(0, 1000), max_rows=st.sampled_from([None, 3]))
def test_the_order_of_rows_makes_no_difference(seed, max_rows):
    shuffled = list(MANY)
    random.Random(seed).shuffle(shuffled)
    first, second = drawn(MANY, max_rows), drawn(shuffled, max_rows)
    assert rows_of(first) == rows_of(second)
    assert first.to_json() == second.to_json()


def test_equal_rows_count_once_with_the_largest_weight():
    found = drawn([pair("a", "b", 0.5), pair("a", "b", 0.9, place=3), pair("a", "b", 0.9, place=2)])
    assert rows_of(found) == [pair("a", "b", 0.9, place=2)]
    assert found.to_json()["duplicates"] == 2
    assert found.to_json()["rows"] == 3


def test_an_output_that_is_good_somewhere_is_nowhere_bad():
    found = drawn([labelled("a", label=False), labelled("a", label=True, place=1)])
    assert rows_of(found) == [labelled("a", label=True, place=1)]
    assert found.to_json()["conflicts"] == 1


def test_of_pairs_that_contradict_each_other_neither_is_learned():
    rows = [pair("a", "b"), pair("b", "a", place=1), pair("b", "c"), pair("a", "d")]
    found = drawn(rows)
    kept = {(row.chosen.content, row.rejected.content) for row in rows_of(found)}  # type: ignore[union-attr]
    assert kept == {("b", "c"), ("a", "d")}  # b is worse than a no more, but c is worse than b
    assert found.to_json()["conflicts"] == 2
    with pytest.raises(DataError, match=r"none of the 2 rows .* each is contradicted by another"):
        drawn(rows[:2])


@pytest.mark.parametrize(("most", "number"), [(8, 2), (9, 3), (11, 3), (12, 4)])
def test_no_more_tokens_are_drawn_than_asked_for(most, number):
    found = drawn([labelled(letter * 3, label=True) for letter in "abcdef"], max_tokens=most)
    assert len(found.examples) == number
    assert found.num_tokens == 3 * number <= most
    assert found.to_json()["left_out"] == 6 - number


def test_room_for_not_even_one_row_is_an_error():
    with pytest.raises(
        DataError, match=r"^trainer\.data\.max_tokens=2 is less than the 3 tokens of the first row"
    ):
        drawn([labelled("aaa", label=True)], max_tokens=2)


def test_why_no_row_is_left_speaks_of_the_rows_that_were_tried():
    rows: list[Row] = [labelled(letter * 5, label=True) for letter in "abc"]
    with pytest.raises(DataError, match=r"^none of the 1 rows that were drawn of 3 can be learned"):
        drawn(rows, max_rows=1, longest=4)
    with pytest.raises(DataError, match=r"^none of the 3 rows can be learned from, 3 sequences"):
        drawn(rows, longest=4)
