"""Prompts are files whose places are filled once."""

import pytest

from drl.runtime.prompts import fill


def test_what_fills_a_place_is_left_as_it_is():
    again = fill("drl.user_simulator", "again.md", fault="it said {fault} and {more}")
    assert "it said {fault} and {more}" in again


def test_a_place_without_a_text_is_an_error():
    with pytest.raises(KeyError, match="fault"):
        fill("drl.user_simulator", "again.md")
