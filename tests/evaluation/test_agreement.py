import pytest

from drl.evaluation.agreement import krippendorff_alpha


def units(*observers: str) -> dict[str, list[list[str]]]:
    """One unit an item, from a row of values for each observer; a dot is no value."""
    return {
        str(number): [[value for value in unit if value != "."]]
        for number, unit in enumerate(zip(*observers, strict=True))
    }


def test_the_published_example_of_four_observers_with_missing_values():
    # Krippendorff 2011, Computing Krippendorff's alpha-reliability, part C, nominal: 0.743. The
    # 40 pairable values are 9, 13, 10, 5 and 3 of 1 to 5; the last unit has one value and is out
    found = krippendorff_alpha(
        units("123321412...", "1233224125.3", ".3332342251.", "12332441251.")
    )
    assert found is not None
    assert found.value == pytest.approx(0.743, abs=5e-4)
    assert found.n == 11


def test_the_published_example_of_two_observers_and_two_values():
    # the same paper, part A: 14 zeros, 6 ones, 4 of 10 units differ, so
    # 1 - 19 * (4 * 2) / (20^2 - 14^2 - 6^2) = 1 - 152 / 168 = 0.095
    found = krippendorff_alpha(units("0100000010", "1110010000"))
    assert found is not None
    assert found.value == pytest.approx(1 - 152 / 168)
    assert found.low < found.value < found.high


def test_full_agreement_is_one_and_equal_answers_tell_nothing():
    perfect = krippendorff_alpha(units("aabb", "aabb"))
    assert perfect is not None
    assert (perfect.value, perfect.low, perfect.high) == (1, 1, 1)
    assert krippendorff_alpha(units("aaaa", "aaaa")) is None
    assert krippendorff_alpha(units("a.b.", ".a.b")) is None
    assert krippendorff_alpha({}) is None
