import pytest

from experiments.text_ppo.rewards import short_words


def test_short_words_earn_and_short_texts_earn_less():
    # 6 words of 10 that earn all; 4 of 6 are short
    assert short_words("", "The sea is wide, beautiful, endless.") == pytest.approx(4 / 6 * 0.6)
    assert short_words("", "a b c d e f g h i j k l") == 1.0
    assert short_words("", "... 12 !") == 0.0
