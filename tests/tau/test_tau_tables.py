"""Databases that fork: siblings never see each other, and the hash is that of a full copy."""

import copy
import hashlib
import random
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drl.domains.tau.digest import full_digest
from drl.domains.tau.tables import Tables

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=6,
)
KEYS = st.sampled_from(["a", "b", "c", "ab", "B", "é", "'"])
RECORDS = st.dictionaries(st.text(max_size=2), JSON_VALUES, max_size=3)
DATABASES = st.dictionaries(
    st.sampled_from(["orders", "users", "it's"]), st.dictionaries(KEYS, RECORDS), max_size=3
)


@settings(max_examples=60)
@given(DATABASES)
def test_the_hash_of_an_untouched_database_is_that_of_a_full_copy(database):
    assert Tables.of(database).digest() == full_digest(database)


def test_the_hash_is_of_what_python_prints_for_nested_tuples():
    # printed by hand: keys sorted, lists in order, one-element tuples with a comma
    printed = "(('t', (('k', (('a', (1, 2.0)), ('b', ()))),)),)"
    database = {"t": {"k": {"b": {}, "a": [1, 2.0]}}}
    assert full_digest(database) == hashlib.sha256(printed.encode()).hexdigest()
    assert Tables.of(database).digest() == full_digest(database)


@pytest.mark.parametrize(
    ("one", "other", "are_equal"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": [1, 2]}, {"a": [2, 1]}, False),
        ({"a": 100}, {"a": 100.0}, False),
        ({"a": "7"}, {"a": 7}, False),
        ({"a": []}, {"a": {}}, True),  # as published
    ],
)
def test_databases_that_tau_bench_takes_for_equal_have_equal_hashes(one, other, are_equal):
    hashes = [Tables.of({"t": {"k": record}}).digest() for record in (one, other)]
    assert (hashes[0] == hashes[1]) == are_equal


@settings(max_examples=60)
@given(DATABASES.filter(lambda database: any(database.values())), st.integers(0, 2**32), st.data())
def test_forks_written_to_in_turns_equal_full_copies_written_to_alike(database, seed, data):
    untouched = copy.deepcopy(database)
    generator = random.Random(seed)
    branches = [(Tables.of(database), copy.deepcopy(database))]
    for _ in range(data.draw(st.integers(1, 25))):
        tables, plain = generator.choice(branches)
        if generator.random() < 0.3:
            branches.append((tables.fork(), copy.deepcopy(plain)))
            continue
        name = generator.choice(sorted(plain))
        write(tables, plain, name, generator)
        if generator.random() < 0.2:
            assert tables.digest() == full_digest(plain)
    for tables, plain in branches:
        assert tables.plain() == plain
        assert list(map(list, tables.plain().values())) == list(map(list, plain.values()))
        assert tables.digest() == full_digest(plain)
    assert database == untouched


def write(tables, plain, name, generator):
    """One random write, to a branch and to its full copy alike."""
    if generator.random() < 0.3 or not plain[name]:
        key = generator.choice(["a", "new", "zz", "A"])
        tables[name][key] = {"n": [1]}
        plain[name][key] = {"n": [1]}
        return
    key = generator.choice(list(plain[name]))
    number = generator.random()
    for record in (tables[name].write(key), plain[name][key]):
        if isinstance(record.get("n"), list):
            record["n"].append(number)
        else:
            record["n"] = [number]


def test_a_nested_list_of_a_written_record_is_the_branch_s_own():
    parent = Tables.of({"users": {"ann": {"orders": ["1"]}}})
    orders_of(parent).append("2")
    child = parent.fork()
    orders_of(child).append("3")
    orders_of(parent).append("4")
    assert parent["users"].read("ann") == {"orders": ["1", "2", "4"]}
    assert child["users"].read("ann") == {"orders": ["1", "2", "3"]}


def orders_of(tables: Tables) -> list[str]:
    return cast(list[str], tables["users"].write("ann")["orders"])


def test_new_records_come_last_and_are_counted():
    table = Tables.of({"users": {"b": {}, "a": {}}})["users"]
    table["0"] = {"x": 1}
    assert list(table) == ["b", "a", "0"]
    assert len(table) == 3
    assert "0" in table
    assert dict(table.items()) == {"b": {}, "a": {}, "0": {"x": 1}}


def test_a_record_or_table_that_is_not_there_is_a_key_error():
    tables = Tables.of({"users": {}})
    for ask in (tables["users"].read, tables["users"].write, tables.__getitem__):
        with pytest.raises(KeyError, match="nobody"):
            ask("nobody")
