"""The calculator answers as Python does, and nothing that is asked of it takes long."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drl.domains.tau.calculate import calculate
from drl.domains.tau.refusal import RefusedError


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2 + 2", "4.0"),
        ("-5+3", "-2.0"),
        ("2 ** 3 ** 2", "512.0"),  # to the right: 2 ** 9
        ("-2**2", "-4.0"),
        ("10 - 3 - 2", "5.0"),  # to the left
        ("7//-2", "-4.0"),
        ("2.675", "2.67"),  # the float is just below
        ("1/3*3", "1.0"),
        ("  4", "4.0"),
        ("(-1)**100000000000", "1.0"),
        ("0**99999999999", "0.0"),
        ("9**-2000", "0.0"),
        ("9**2000//9**1999", "9.0"),
        ("+".join(["1"] * 500), "500.0"),
    ],
)
def test_arithmetic_is_python_s_rounded_to_two_digits(expression, value):
    assert calculate(expression) == value


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("1e3", "^invalid characters in expression$"),
        ("__import__('os')", "^invalid characters in expression$"),
        ("1,2", "^invalid characters in expression$"),
        ("1/0", "^division by zero$"),
        ("2 +", "invalid syntax"),
        ("", "invalid syntax"),
        ("()", "not 'tuple'"),
        ("3(4)", "^'int' object is not callable$"),
        ("3(1/0)", "^division by zero$"),
        ("3(*4)", "invalid syntax"),
        ("(-8)**0.5", "not 'complex'"),
        ("...", "not 'ellipsis'"),
        ("9.0**999", "out of range"),
    ],
)
def test_what_has_no_value_is_refused_with_the_reason(expression, message):
    with pytest.raises(RefusedError, match=message):
        calculate(expression)


@pytest.mark.parametrize(
    "expression",
    [
        "9**9**9",
        "9**9**9**9",
        "(9**9**4)*(9**9**4)*(9**9**4)",
        "1-9**9**9",
        "9" * 5000,
        "(" * 5000 + "1" + ")" * 5000,
        "-" * 9000 + "1",
        "1**" * 3000 + "1",
        "1+" * 10_000 + "1",
    ],
)
def test_what_would_take_long_is_refused_at_once(expression):
    with pytest.raises(RefusedError):
        calculate(expression)


def test_a_list_of_characters_is_no_expression():
    with pytest.raises(RefusedError, match="must be a text"):
        calculate(["1", "+", "1"])  # type: ignore[arg-type]


@given(st.text(alphabet="0123456789+-*/(). ", max_size=12))
def test_any_text_of_allowed_characters_gives_a_number_or_a_refusal(expression):
    with contextlib.suppress(RefusedError):
        float(calculate(expression))
