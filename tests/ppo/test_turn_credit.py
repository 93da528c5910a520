import pytest

from experiments.turn_credit.game import compare


@pytest.mark.slow
def test_credit_by_turns_needs_at_most_half_of_the_updates_of_credit_by_dialogues():
    found = compare(range(2))
    assert found["turn_over_dialogue"]["value"] <= 0.5, found
