import pytest

from drl.errors import DataError
from drl.evaluation.policy_course import (
    MEASURES,
    Reply,
    against_best_of_n,
    agreement,
    best_of_n,
    choose,
    described,
    differences,
    values_of,
)


def judged(*means):
    """Two conversations alike, by update."""
    return {update: {"a": [mean], "b": [mean]} for update, mean in enumerate(means)}


def reply(task, conversation, text="so kind of you", **measures):
    return Reply(task, conversation, text, {**dict.fromkeys(MEASURES), "kl": 0.0, **measures})


def test_the_last_update_is_chosen_while_the_judge_does_not_find_one_worse():
    choice = choose(judged(0.0, 0.1, 0.3))
    assert (choice.update, choice.parted_at) == (2, None)


def test_nothing_is_chosen_from_where_the_judge_finds_one_worse():
    # all gaps are alike, so their standard error is 0: update 2 is worse than 1, whatever follows
    choice = choose(judged(0.0, 0.5, 0.4, 0.9))
    assert (choice.update, choice.parted_at) == (1, 2)


def test_a_fall_within_a_standard_error_is_no_fall():
    # gaps to update 0: -0.5 and 0.3, mean -0.1; deviation 0.566, over sqrt 2: 0.4
    curve = {0: {"a": [1.0], "b": [1.0]}, 1: {"a": [0.5], "b": [1.3]}}
    assert choose(curve).update == 1
    # gaps -0.5 and -0.3, mean -0.4; deviation 0.141, over sqrt 2: 0.1
    curve[1] = {"a": [0.5], "b": [0.7]}
    choice = choose(curve)
    assert (choice.update, choice.parted_at) == (0, 1)


def test_small_falls_add_up_as_each_is_held_against_the_best_so_far():
    # gaps to update 0: (-0.3, 0.1) mean -0.1, error 0.2; then (-0.5, -0.1) mean -0.3, error 0.2
    curve = {
        0: {"a": [1.0], "b": [1.0]},
        1: {"a": [0.7], "b": [1.1]},
        2: {"a": [0.5], "b": [0.9]},
    }
    choice = choose(curve)
    assert (choice.update, choice.parted_at) == (1, 2)


def test_one_conversation_is_too_few_to_choose_by():
    with pytest.raises(DataError, match=r"share 1 conversations.*eval_dataset"):
        choose({0: {"a": [1.0]}, 1: {"a": [2.0]}})


def test_conversations_count_alike_and_so_do_the_contexts_of_each():
    replies = [
        reply("a1", "a", judge=1.0),
        reply("a1", "a", judge=3.0),  # a second trial
        reply("a2", "a", judge=4.0),
        reply("b1", "b", judge=0.0),
        reply("c1", "c"),  # unknown
    ]
    assert values_of(replies, "judge") == {"a": [2.0, 4.0], "b": [0.0]}
    told = described(replies)
    assert (told["judge"]["value"], told["judge"]["n"]) == (pytest.approx(1.5), 2)


def test_hidden_rewards_that_cannot_be_read_are_counted():
    told = described([reply("a1", "a", hidden=0.5), reply("b1", "b")])
    assert told["hidden_known"] == 0.5
    assert told["hidden"]["value"] == 0.5
    assert told["sentiment"] is None


DRAWS = [
    *(reply("a1", "a", proxy=float(k), judge=-float(k), hidden=1.0) for k in range(3)),
    *(reply("b1", "b", proxy=float(k), judge=float(k)) for k in range(3)),
]


def test_the_best_of_n_is_chosen_by_the_proxy_and_told_by_the_others():
    # ln 2 - 1/2 = 0.193 <= 0.3 < 0.432: two draws of 0, 1, 2; the best is 1, 2, 2, in the mean 5/3
    best = best_of_n(DRAWS, 0.3)
    assert (best.number, best.is_nearer) == (2, False)
    assert best.worths["proxy"] == pytest.approx({"a1": 5 / 3, "b1": 5 / 3})
    assert best.worths["judge"] == pytest.approx({"a1": -5 / 3, "b1": 5 / 3})
    assert best.worths["hidden"] == {"a1": 1.0}


def test_it_is_said_where_there_are_too_few_draws_to_go_as_far():
    # ln 4 - 3/4 = 0.636
    assert not best_of_n(DRAWS, 0.6).is_nearer
    best = best_of_n(DRAWS, 0.7)
    assert (best.number, best.is_nearer) == (3, True)


def test_a_policy_is_held_against_the_best_of_n_in_the_same_contexts():
    policy = [
        reply("a1", "a", kl=0.2, proxy=2.0, judge=0.0, hidden=1.5),
        reply("b1", "b", kl=0.4, proxy=3.0, judge=2.0),
    ]
    told = against_best_of_n(policy, DRAWS)
    assert told["n"] == 2
    assert told["judge"]["value"] == pytest.approx(0.0)
    # 0 + 5/3 and 2 - 5/3
    assert told["judge_of_policy_minus_this"]["value"] == pytest.approx(1.0)
    assert told["hidden_of_policy_minus_this"]["value"] == pytest.approx(0.5)
    assert told["hidden_of_policy_minus_this"]["n"] == 1


def test_differences_are_of_contexts_that_have_both():
    start = [reply("a1", "a", judge=1.0), reply("a2", "a", judge=9.0), reply("b1", "b", judge=0.0)]
    after = [reply("a1", "a", judge=1.5), reply("b1", "b", judge=1.0)]
    told = differences(start, after)
    assert told["judge"]["value"] == pytest.approx(0.75)
    assert told["hidden"] is None
    assert "kl" not in told


def test_rewards_agree_as_far_as_they_order_replies_to_one_context_alike():
    # a1: the judge turns the order round (-1), b1: the same order (1); b2 all alike, so left out
    alike = [reply("b2", "b", proxy=float(k), judge=1.0) for k in range(3)]
    told = agreement([*DRAWS, *alike])
    assert told["proxy_and_judge"]["value"] == pytest.approx(0.0)
    assert told["proxy_and_judge"]["n"] == 2
    # hidden rewards of a1 are all alike, and those of b1 unknown
    assert told["proxy_and_hidden"] is None
