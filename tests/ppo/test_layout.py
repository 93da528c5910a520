import pytest
from ppo.models import call, dialogue

from drl.ppo.layout import decisions_of, lay_out
from drl.ppo.trajectory import Trajectory, TurnRecord


def test_turns_whose_prompts_go_on_exactly_share_one_sequence():
    layout = lay_out([dialogue([1, 2], ([7, 8], 1.0), ([9], 2.0))], "turn", None)
    (sequence,) = layout.sequences
    assert sequence.ids == [1, 2, 7, 8, 5, 6, 9]
    assert [(span.start, span.end) for span in sequence.spans] == [(2, 4), (6, 7)]
    # the value of a turn is read at the last token of its prompt
    assert [(site.decision, site.place) for site in sequence.sites] == [(0, 1), (1, 5)]
    assert layout.rewards == (1.0, 2.0)


def test_a_prompt_that_was_rendered_anew_begins_another_sequence():
    turns = (TurnRecord((call([1, 2], [7]),), 0.0), TurnRecord((call([1, 3, 7, 4], [8]),), 1.0))
    layout = lay_out([Trajectory(turns, "g")], "turn", None)
    assert [sequence.ids for sequence in layout.sequences] == [[1, 2, 7], [1, 3, 7, 4, 8]]


def test_calls_of_one_turn_are_one_decision():
    turn = TurnRecord((call([1], [7, 8]), call([1, 7, 8, 4], [9])), 3.0)
    layout = lay_out([Trajectory((turn,), "g")], "turn", None)
    assert layout.token_decision == (0, 0, 0)
    assert [site.place for site in layout.sequences[0].sites] == [0]


def test_every_token_is_a_decision_where_tokens_are_and_a_turns_reward_comes_with_its_last():
    layout = lay_out([dialogue([1, 2], ([7, 8], 1.0), ([9], 2.0))], "token", None)
    assert layout.rewards == (0.0, 1.0, 2.0)
    assert [site.place for site in layout.sequences[0].sites] == [1, 2, 5]


def test_a_dialogue_is_one_decision_valued_before_its_first_token():
    layout = lay_out([dialogue([1, 2], ([7, 8], 1.0), ([9], 2.0))], "dialogue", None)
    assert layout.rewards == (3.0,)
    assert [(site.decision, site.place) for site in layout.sequences[0].sites] == [(0, 1)]


def test_token_rewards_add_to_their_tokens_or_to_the_turn_they_are_in():
    turn = TurnRecord((call([1], [7, 8]),), 1.0, token_rewards=((0.5, 0.25),))
    trajectory = Trajectory((turn,), "g")
    assert lay_out([trajectory], "token", None).rewards == (0.5, 1.25)
    assert lay_out([trajectory], "turn", None).rewards == (1.75,)
    assert trajectory.total == 1.75


def test_the_reward_of_a_turn_without_tokens_goes_to_the_token_before():
    turns = (TurnRecord((call([1], [7]),), 1.0), TurnRecord((call([1, 7, 4], []),), 2.0))
    assert lay_out([Trajectory(turns, "g")], "token", None).rewards == (3.0,)
    assert lay_out([Trajectory(turns[::-1], "g")], "token", None).rewards == (3.0,)


def test_turns_without_weight_are_context_only():
    turns = (
        TurnRecord((call([1], [7]),), 0.0, weight=0.0),
        TurnRecord((call([1, 7, 4], [8]),), 1.0, weight=0.5, advantage=2.0),
    )
    layout = lay_out([Trajectory(turns, "g")], "turn", None)
    assert [(span.start, span.end) for span in layout.sequences[0].spans] == [(3, 4)]
    assert layout.decision_weight == (0.0, 0.5)
    assert layout.decision_advantage == (None, 2.0)


def test_an_encoder_reads_the_prompt_and_the_decoder_begins_anew_with_every_call():
    layout = lay_out([dialogue([1, 2], ([7, 8], 1.0), ([9], 2.0))], "turn", 0)
    assert [sequence.ids for sequence in layout.sequences] == [[0, 7, 8], [0, 9]]
    assert layout.sequences[1].encoder_ids == (1, 2, 7, 8, 5, 6)
    assert [site.place for site in layout.sequences[1].sites] == [0]


def test_decisions_are_found_by_trajectory():
    both = [dialogue([1], ([7], 0.0), ([8], 0.0)), dialogue([1], ([9], 0.0))]
    assert list(decisions_of(lay_out(both, "turn", None))) == [range(0, 2), range(2, 3)]


@pytest.mark.parametrize(
    ("turn", "cause"),
    [
        (TurnRecord((call([1], []),), 0.0), "no sampled token"),
        (TurnRecord((call([], [7]),), 0.0), "prompt without tokens"),
        (TurnRecord((), 0.0), "without a model call"),
        (TurnRecord((call([1], [7, 8]),), 0.0, token_rewards=((1.0,),)), r"\[1\] tokens"),
    ],
)
def test_what_cannot_be_learned_from_is_refused_with_its_group(turn, cause):
    turns = (turn,) if turn.calls else (TurnRecord((call([1], [7]),), 0.0), turn)
    with pytest.raises(ValueError, match=cause) as refused:
        lay_out([Trajectory(turns, "restaurant")], "turn", None)
    assert "restaurant" in str(refused.value)
