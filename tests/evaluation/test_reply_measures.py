import pytest

from drl.evaluation.reply_measures import distinct_pairs, distinct_pairs_of_all, num_words


def test_words_are_counted_without_numbers_and_marks():
    assert num_words("Well, it's 3 o'clock... isn’t it?") == 5
    assert num_words("!!!") == 0


def test_pairs_that_come_again_are_counted():
    assert distinct_pairs("the cat the cat the") == pytest.approx(2 / 4)
    assert distinct_pairs("one") == 0.0


def test_texts_that_are_alike_show_in_the_pairs_of_all():
    # "so kind", "kind of", "of you", then twice the first of them alone
    assert distinct_pairs_of_all(["so kind of you", "So kind.", "So kind!"]) == pytest.approx(3 / 5)
    assert distinct_pairs("So kind.") == 1.0
