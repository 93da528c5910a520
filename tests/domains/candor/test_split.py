"""Who is held out, who is dropped for sharing people with those, and what may be asked for."""

import pytest

from drl.domains.candor.split import (
    DivisionSettings,
    divide,
    is_held_out,
    place,
    read_parts,
    write_parts,
)
from drl.errors import ConfigError, DataError


def settings(**changed: object) -> DivisionSettings:
    given = {"by": "hash", "test_share": 0.2, "val_share": 0.2, "drop_shared": "none"}
    given |= {"file": None, "positions": None, "per_part": None}
    return DivisionSettings(**given | changed)  # type: ignore[arg-type]


def strangers(count: int) -> dict[str, tuple[str, str]]:
    return {f"c{n:04}": (f"{n}a", f"{n}b") for n in range(count)}


def test_the_id_alone_decides_and_shares_hold():
    parts = divide(strangers(2000), settings()).parts
    counts = [list(parts.values()).count(part) for part in ("test", "val", "train")]
    # binomial with a standard deviation of 18 and 22: within four of them
    assert all(abs(count - 400) < 72 for count in counts[:2])
    assert abs(counts[2] - 1200) < 88
    assert {name: parts[name] for name in strangers(50)} == divide(strangers(50), settings()).parts
    assert all(is_held_out(name, 0.2) == (part == "test") for name, part in parts.items())


def by_position(**positions: list[int | None]) -> DivisionSettings:
    return settings(by="position", positions=positions)


FIVE = {"c1": "ab", "c2": "bc", "c3": "de", "c4": "cd", "c5": "fg"}


def test_positions_follow_the_order_of_ids_and_leave_others_out():
    division = divide(FIVE, by_position(train=[0, 2], val=[-1, None]))
    assert division.parts == {"c1": "train", "c2": "train", "c5": "val"}
    assert division.left_out == {"c3": "in no part", "c4": "in no part"}


def test_where_positions_overlap_the_part_named_first_has_the_conversation():
    division = divide(FIVE, by_position(val=[-3, None], train=[0, 4]))
    assert division.parts == {"c3": "val", "c4": "val", "c5": "val", "c1": "train", "c2": "train"}


def test_a_first_look_takes_a_few_of_each_part():
    whole, few = divide(strangers(200), settings()), divide(strangers(200), settings(per_part=3))
    assert sorted(few.parts.values()) == ["test"] * 3 + ["train"] * 3 + ["val"] * 3
    assert few.parts.items() <= whole.parts.items()
    assert set(few.left_out.values()) == {"beyond division.per_part"}


@pytest.mark.parametrize("drop", ["test", "held_out"])
def test_people_of_test_are_not_learned_from(drop):
    positions = {"train": [0, 2], "val": [2, 3], "test": [3, 5]}
    division = divide(FIVE, settings(by="position", positions=positions, drop_shared=drop))
    # in test are c, d, f and g: c2 shares c, and c3 d; c1 then shares b with nobody held out
    assert division.parts == {"c1": "train", "c4": "test", "c5": "test"}
    shares = "shares people with a held-out conversation"
    assert division.left_out == {"c2": shares, "c3": shares}


def test_people_of_val_are_learned_from_unless_held_out_is_dropped():
    people = {"c1": "ab", "c2": "bc"}
    chosen = {"by": "position", "positions": {"train": [0, 1], "val": [1, 2]}}
    assert divide(people, settings(drop_shared="test", **chosen)).parts == {
        "c1": "train",
        "c2": "val",
    }
    assert divide(people, settings(drop_shared="held_out", **chosen)).parts == {"c2": "val"}


def test_a_stored_table_divides_the_same_way_again(tmp_path):
    path = tmp_path / "parts" / "stored.csv"
    first = divide(FIVE, by_position(train=[0, 2], test=[4, 5]))
    write_parts(path, first, {"c9": "empty transcript"})
    assert path.read_text().splitlines() == [
        "conversation_id,split,reason",
        "c1,train,",
        "c2,train,",
        "c3,,in no part",
        "c4,,in no part",
        "c5,test,",
        "c9,,empty transcript",
    ]
    assert divide(FIVE, settings(by="file", file=str(path))) == first


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "is no table with the columns conversation_id and split"),
        ("id,split\nc1,train\n", "is no table with the columns conversation_id and split"),
        ("conversation_id,split\nc1,dev\n", "c1 has split dev; write one of train, val, test"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused(tmp_path, text, message):
    path = tmp_path / "own.csv"
    if text is not None:
        path.write_text(text)
    with pytest.raises(DataError, match=message):
        read_parts(path)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"test_share": 1.0}, "test_share=1.0 must be from 0 to below 1"),
        ({"val_share": 0.8}, "leave nothing to train on"),
        ({"by": "file"}, "file=None goes with by=file only"),
        ({"positions": {}}, "goes with by=position only, but by=hash"),
        ({"by": "position", "positions": {"dev": [0, 1]}}, r"positions.dev=\[0, 1\] must be"),
        ({"by": "position", "positions": {"val": [0]}}, r"positions.val=\[0\] must be"),
    ],
)
def test_settings_are_checked(changed, message):
    with pytest.raises(ConfigError, match=message):
        settings(**changed)


def test_places_are_spread_evenly():
    places = sorted(place(f"c{n}") for n in range(1000))
    assert max(abs(at - (n + 0.5) / 1000) for n, at in enumerate(places)) < 0.05
